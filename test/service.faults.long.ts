// The faults of service.faults.test.ts in many rounds, and with limits on the times.
import './service.faults.test.ts'
