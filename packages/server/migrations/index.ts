// Every migration in order; its place in this list is its number. Append only: what has been released never changes.
import type { Migration } from '../src/db/migrate.ts'
import * as organizations from './0001-organizations.ts'
import * as apiKeys from './0002-api-keys.ts'
import * as companies from './0003-companies.ts'
import * as deals from './0004-deals.ts'
import * as invoices from './0005-invoices.ts'
import * as idempotency from './0006-idempotency.ts'

export const migrations: readonly Migration[] = [
	{ name: '0001-organizations', up: organizations.up },
	{ name: '0002-api-keys', up: apiKeys.up },
	{ name: '0003-companies', up: companies.up },
	{ name: '0004-deals', up: deals.up },
	{ name: '0005-invoices', up: invoices.up },
	{ name: '0006-idempotency', up: idempotency.up },
]
