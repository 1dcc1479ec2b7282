"""What torch.compile made of a program: its kernels, and the operations behind each."""
