import type { Connection, ConnectionCreate, ConnectionCredentials, EventType } from '../../generated/contract.ts'
import { blanks, fields } from '../../generated/tables.ts'
import { newId } from '../../platform/base/ids.ts'
import type { Writing } from '../../platform/db/audit-log.ts'
import { type ListFilter, records } from '../../platform/db/records.ts'
import type { WriteContext } from '../../platform/db/write-context.ts'
import { changesBetween } from '../../platform/events/changes.ts'
import { eventsAbout } from '../../platform/events/record-events.ts'
import { sealedColumns } from '../../platform/outside/sealed-columns.ts'
import type { Secrets } from '../../platform/outside/secrets.ts'
import { hintOf } from './rules.ts'

export interface ConnectionKey {
	readonly organizationId: string
	readonly id: string
}

/** Columns that no answer shows. */
interface Hidden {
	/** Sealed. */
	readonly credentials: string
}

export const connections = records<Connection, ListFilter<'connections.list'>, Hidden>({
	name: 'connection',
	table: 'connections',
	fields: fields.Connection,
})

type ConnectionEvent = Extract<EventType, `connection.${string}`>

const record = eventsAbout<Connection, ConnectionEvent>('connection')

const { connectionCredentials } = sealedColumns

/** The columns of new credentials. Nothing has proven them, so that what was known of the old ones goes. */
export function credentialColumns(
	secrets: Secrets,
	key: ConnectionKey,
	given: ConnectionCredentials,
): Pick<Connection, 'credentialHint' | 'lastSuccessAt' | 'lastError'> & Hidden {
	return {
		credentialHint: hintOf(given),
		lastSuccessAt: null,
		lastError: null,
		credentials: secrets.seal(connectionCredentials, key, JSON.stringify(given)),
	}
}

export async function createConnection(
	write: WriteContext,
	secrets: Secrets,
	{ credentials: given = {}, config = {}, ...input }: ConnectionCreate,
): Promise<Connection> {
	const { db, origin, organization } = write
	const key = { organizationId: organization.id, id: newId('con') }
	const { credentials, ...shown } = credentialColumns(secrets, key, given)
	const times = { createdAt: origin.now, updatedAt: origin.now, version: 1 }
	const connection: Connection = {
		...blanks.Connection,
		...input,
		config,
		status: 'pending',
		grantedScopes: [],
		missingScopes: [],
		...shown,
		...key,
		...times,
	}
	const data = await connections.insert(write, connection, { credentials })
	await record(db, origin, 'connection.created', connection, { data })
	return connection
}

type Changes = Partial<Omit<Connection, keyof ConnectionKey> & Hidden>

/** Changes a connection that was read with `lock`, and tells of it unless only the time of its last success differs. */
export async function changeConnection(write: Writing, stored: Connection, changes: Changes): Promise<Connection> {
	const changed = await connections.update(write, stored, changes)
	const { lastSuccessAt, ...telling } = changesBetween(stored, changed)
	if (Object.keys(telling).length > 0 || 'credentials' in changes)
		await record(write.db, write.origin, eventOf(stored, changed), changed, { before: stored })
	return changed
}

function eventOf(before: Connection, after: Connection): ConnectionEvent {
	if (after.status === before.status) return 'connection.updated'
	if (after.status === 'degraded' || after.status === 'needs_reauth') return `connection.${after.status}`
	if (after.status !== 'active') return 'connection.updated'
	return before.status === 'degraded' || before.status === 'needs_reauth' ? 'connection.recovered' : 'connection.activated'
}

/** Removes a connection that was read with `lock`, and its credentials with it. */
export async function removeConnection(write: Writing, stored: Connection): Promise<void> {
	const data = await connections.remove(write, stored)
	await record(write.db, write.origin, 'connection.deleted', stored, { data })
}

/** Undefined when the server lost the sealing key. */
export function openCredentials(
	secrets: Secrets,
	{ organizationId, id }: ConnectionKey,
	text: string,
): ConnectionCredentials | undefined {
	const opened = secrets.unseal(connectionCredentials, { organizationId, id }, text)
	return opened === undefined ? undefined : JSON.parse(opened)
}
