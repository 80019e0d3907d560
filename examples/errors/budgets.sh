# Budget files with a mistake. `warpgauge attach` reads one before it starts the program, so that
# nothing is counted here. Mistakes in names of cases: tests/metrics/budget_error_test.cpp.
# shellcheck shell=bash disable=SC2154

about "Budget files that cannot be read"
mkdir -p folder
try "warpgauge attach --budgets missing.toml -- true"
try "warpgauge attach --budgets folder -- true"

about "Budget files with a mistake"
wrong() { # TEXT
  printf '%b\n' "$1" >budgets.toml
  try "cat budgets.toml; warpgauge attach --budgets budgets.toml -- true"
}
wrong '["*"]\nregisters ='
wrong 'registers = 20'
wrong 'gate_on = 1'
wrong 'gate_on = "predict"'
wrong '["*"]\ngate_on = "exact"'
wrong '["*".sm90]\nregisters = 20'
wrong '[by_rows.f32]\nregisters = 20'
wrong '["*"]\nregsters = 20'
wrong '["*"]\nshared.bank_conflicts = 0'
wrong '["*"]\n"result.max_error" = 0'
wrong '["*"]\nregisters = "few"'
wrong '["*"]\nregisters = -1'
wrong '["*"]\nregisters = {}'
wrong '["*"]\nregisters = { most = 20 }'
wrong '["*"]\nregisters = { equal = 20, max = 21 }'
wrong '["*"]\nregisters = { max = 20, min = 21 }'
wrong '["*"]\nregisters = { max = 20, tolerance = 5 }'
wrong '["*"]\nregisters = { max = 20, until = "tomorrow" }'
wrong '["*"]\nregisters = { max = 20, until = 2027-01-31 }'
wrong '["*"]\nregisters = { max = 20, reason = "" }'
wrong '["*"]\nregisters = { max = 20, code = "5feceb66" }'
wrong '["*"]\n"shared.bank_conflicts" = 31'
wrong '["*"]\n"time.median_us" = 10'
wrong '["*"]\n"occupancy.limiter" = 3'
wrong '["*"]\n"occupancy.limiter" = { max = 3 }'
wrong '["*"]\n"occupancy.limiter" = { equal = "registers", tolerance = 0.1 }'
