"""Lost time: how far a run is from its floor, what it was lost to, and the sentence that says so."""
