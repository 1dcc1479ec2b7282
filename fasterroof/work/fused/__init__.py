"""Operations that one kernel does: what torch.compile made of a program, and attention on a CUDA device."""
