// What every change of a record needs, whether a request, a payment or background work makes it.
import type { Origin } from '../base/origin.ts'
import type { OrganizationSettings } from '../generated/contract.ts'
import type { Db } from './database.ts'

export interface WriteContext {
	/** The transaction of the change. */
	readonly db: Db
	/** Who changes it, and when: for its events. */
	readonly origin: Origin
	/** Whose record it is, and its settings. */
	readonly organization: OrganizationSettings
}
