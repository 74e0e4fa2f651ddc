// Every migration in order; its place in this list is its number. Append only: what has been released never changes.
import type { Migration } from '../src/db/migrate.ts'
import * as organizations from './0001-organizations.ts'
import * as apiKeys from './0002-api-keys.ts'
import * as companies from './0003-companies.ts'
import * as deals from './0004-deals.ts'
import * as invoices from './0005-invoices.ts'
import * as idempotency from './0006-idempotency.ts'
import * as organizationSettings from './0007-organization-settings.ts'
import * as contacts from './0008-contacts.ts'
import * as taxRates from './0009-tax-rates.ts'
import * as timeEntries from './0010-time-entries.ts'
import * as clientLinks from './0011-client-links.ts'
import * as payments from './0012-payments.ts'
import * as events from './0013-events.ts'
import * as apiKeyLists from './0014-api-key-lists.ts'
import * as invoiceFields from './0015-invoice-fields.ts'
import * as webhooks from './0016-webhooks.ts'
import * as attemptsInKeyOrder from './0017-attempts-in-key-order.ts'

export const migrations: readonly Migration[] = [
	{ name: '0001-organizations', up: organizations.up },
	{ name: '0002-api-keys', up: apiKeys.up },
	{ name: '0003-companies', up: companies.up },
	{ name: '0004-deals', up: deals.up },
	{ name: '0005-invoices', up: invoices.up },
	{ name: '0006-idempotency', up: idempotency.up },
	{ name: '0007-organization-settings', up: organizationSettings.up },
	{ name: '0008-contacts', up: contacts.up },
	{ name: '0009-tax-rates', up: taxRates.up },
	{ name: '0010-time-entries', up: timeEntries.up },
	{ name: '0011-client-links', up: clientLinks.up },
	{ name: '0012-payments', up: payments.up },
	{ name: '0013-events', up: events.up },
	{ name: '0014-api-key-lists', up: apiKeyLists.up },
	{ name: '0015-invoice-fields', up: invoiceFields.up },
	{ name: '0016-webhooks', up: webhooks.up },
	{ name: '0017-attempts-in-key-order', up: attemptsInKeyOrder.up },
]
