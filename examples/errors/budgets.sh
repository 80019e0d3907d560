# Budget files with a mistake. `warpgauge attach` reads them before it starts the program. All others
# are in tests/metrics/budget_error_test.cpp.
# shellcheck shell=bash disable=SC2154

about "Budget files with a mistake"
try "warpgauge attach --budgets missing.toml -- true"
wrong() { # TEXT
  printf '%b\n' "$1" >budgets.toml
  try "cat budgets.toml; warpgauge attach --budgets budgets.toml -- true"
}
wrong '["*"]\nregisters ='
wrong 'registers = 20'
wrong '["*"]\nregsters = 20'
wrong '["*"]\nshared.bank_conflicts = 0'
wrong '["*"]\nregisters = { most = 20 }'
wrong '["*"]\n"shared.bank_conflicts" = 31'
wrong '["*"]\n"time.median_us" = 10'
wrong '["*"]\nregisters = { max = 20, until = 2027-01-31 }'
