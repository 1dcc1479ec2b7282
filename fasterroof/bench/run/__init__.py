"""From a case to rows: plan, processes, measurement, devices, machines."""
