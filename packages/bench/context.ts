// What the sections of a run share.
import type { Plan } from './measure.ts'
import type { Seed } from './seed.ts'

export interface Run extends Plan {
	/** A copy of the built server (see remit.ts). */
	readonly server: string
	/** The seeded SQLite file: to be copied, not opened. */
	readonly database: string
	readonly seed: Seed
	readonly quick: boolean
}
