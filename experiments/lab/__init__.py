"""What the experiments share: arguments, data, machines, the paper's figures, tables."""
