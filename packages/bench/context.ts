// The settings, server and rows that the sections of a run share.
import type { Plan } from './measure.ts'
import type { Seed } from './seed.ts'

export interface Run extends Plan {
	/** The folder with a copy of the built server (see remit.ts). */
	readonly server: string
	/** The seeded SQLite file. Copy it, and do not open it: every server starts from the same rows. */
	readonly database: string
	readonly seed: Seed
	readonly quick: boolean
}
