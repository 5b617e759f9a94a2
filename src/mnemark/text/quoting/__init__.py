"""Quote memory for a prompt such that it cannot pass for anything else."""
