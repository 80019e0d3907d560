"""What CI needs of facts: formats of CI systems, differences of two runs, new budgets."""
