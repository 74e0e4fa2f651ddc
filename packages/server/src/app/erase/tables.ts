// Where personal data may be, by table and column. A test compares this with the schema: a new table or column must be added,
// so that an erasure does not forget it.
import { accounts } from '../../accounts/part.ts'
import { billing } from '../../billing/part.ts'
import { integration } from '../../integration/part.ts'
import type { ErasableTables } from '../../platform/db/erasable.ts'

const platform: ErasableTables = {
	events: {
		key: ['id'],
		json: ['actor', 'changes', 'data'],
		contact: ['resourceId'],
		plain: ['type', 'resourceType', 'resourceId', 'requestId'],
	},
	feed_places: { key: [] },
	audit_log: {
		key: ['id'],
		json: ['before', 'after'],
		contact: ['resourceId'],
		plain: ['action', 'resourceType', 'resourceId', 'operation', 'actorType', 'actorId', 'address', 'requestId'],
		appendOnly: ['before', 'after', 'address'],
	},
	// Sealed, and removed after 24 hours.
	idempotency_keys: {
		key: ['keyId', 'operationId', 'idempotencyKey'],
		json: ['headers'],
		plain: ['requestHash', 'body'],
	},
	mails: {
		key: ['id'],
		text: ['to', 'replyTo?', 'subject', 'reason?'],
		json: ['cc', 'bcc', 'recipients'],
		plain: ['kind', 'resourceId', 'requestKey', 'messageId', 'status'],
	},
	long_records: { key: [] },
	stored_bytes: { key: ['day'] },
	change_times: { key: [] },
	jobs: { key: ['kind', 'resourceId'], text: ['lastError?'], plain: ['checkpoint'] },
}

/** Keys of the API go first, and what all contexts have written last. */
export const tables: ErasableTables = { ...accounts.erasable, ...integration.erasable, ...billing.erasable, ...platform }

/**
 * Tables that an erasure leaves: the organization's own row, which is blanked, the tombstones, and what belongs to no organization. An
 * address stays suppressed (`remit mail unsuppress`): forgetting it would mail somebody who has complained.
 */
export const leftTables = ['organizations', 'erasures', 'migrations', 'webhook_hosts', 'suppressed_addresses']
