// What every change of a record needs, whether a request, a payment or a background job makes it.
import type { Origin } from '../base/origin.ts'
import type { OrganizationSettings } from '../generated/contract.ts'
import type { Db } from './database.ts'

export interface WriteContext {
	/** The transaction of the change. */
	readonly db: Db
	/** Actor, request and time of the change, for its events. */
	readonly origin: Origin
	/** The organization that owns the record, with its settings. */
	readonly organization: OrganizationSettings
}
