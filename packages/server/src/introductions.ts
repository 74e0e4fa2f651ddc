// What the contexts have of each other, although they do not know each other.

import { createOrganization as create } from './accounts/doors.ts'
import { createDefaultPipeline, recordDoors } from './billing/doors.ts'
import type { OrganizationSettingsUpdate } from './generated/contract.ts'
import type { Origin } from './platform/base/origin.ts'
import type { Db } from './platform/db/database.ts'
import type { Introductions } from './platform/outside/services.ts'

export const introductions: Introductions = { records: recordDoors, beginOrganization: createDefaultPipeline }

/** Creates an organization with all that it begins with. */
export const createOrganization = (db: Db, origin: Origin, settings: OrganizationSettingsUpdate & { name: string }) =>
	create(db, origin, settings, introductions.beginOrganization)
