// Erases an organization, or a person from an organization's records. Each part is a transaction of its own: an erasure that was
// broken off is done by running it again.

import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { type SearchedTable, searchTexts } from '../../billing/doors.ts'
import { findTokenRows, type TokenRow } from '../../integration/doors.ts'
import { keyCacheMs } from '../../platform/auth/caller.ts'
import { newId } from '../../platform/base/ids.ts'
import type { Origin } from '../../platform/base/origin.ts'
import { recordChange } from '../../platform/db/audit-log.ts'
import type { Database, Db } from '../../platform/db/database.ts'
import type { ErasableTable } from '../../platform/db/erasable.ts'
import { takeChangeTime } from '../../platform/db/write-context.ts'
import { spellingsOf } from '../../platform/outside/mail/addresses.ts'
import { blankJson, blankText, isOf, nobody, nowhere, type Person } from './blank.ts'
import {
	blankOrganization,
	type Erasure,
	erased,
	erasePart,
	findContacts,
	findDocumentsOfDrafts,
	findMail,
	findPart,
	finishErasure,
	insertErasure,
	lockRow,
	type Row,
	removeKeptDocument,
	updateRow,
} from './store.ts'
import { tables } from './tables.ts'

const partSize = 200

export interface ErasureRequest {
	readonly organizationId: string
	readonly origin: Origin
	readonly now: () => number
}

/**
 * Deletes every row of an organization but its own and the audit log's, which it blanks, until none is left: its keys go first, but
 * servers take them for two seconds more. `revoke` gets the connections that had a token, once they are gone.
 */
export async function eraseOrganization(
	db: Database,
	request: ErasureRequest,
	revoke: (connections: readonly TokenRow[]) => Promise<void> = async () => {},
): Promise<Erasure> {
	const { organizationId, now } = request
	const granted = await findTokenRows(db, organizationId)
	const erasure = await withTombstone(db, 'organization', request, async () => {
		let rowCount = 0
		for (let found = await eraseRows(db, request); found > 0; found = await eraseRows(db, request)) {
			rowCount += found
			await sleep(keyCacheMs + 500)
		}
		await db.transaction((tx) => blankOrganization(tx, organizationId, now()))
		return rowCount + 1
	})
	await revoke(granted)
	return erasure
}

async function eraseRows(db: Database, { organizationId, origin }: ErasureRequest): Promise<number> {
	let rowCount = 0
	for (const [name, table] of Object.entries(tables)) {
		const part = erasePart(name, table)
		for (let count = partSize; count === partSize; rowCount += count)
			count = await db.transaction((tx) => tx.run(part, { organizationId, limit: partSize, erasedAt: origin.now }))
	}
	return rowCount
}

/** Finds who an e-mail address or the id of a contact is, with all that their contacts say of them. */
export async function findPerson(db: Database, organizationId: string, key: string): Promise<Person> {
	const isEmail = key.includes('@')
	const named = isEmail ? spellingsOf(key).map((email) => ({ email })) : [{ id: key }]
	const contacts = (await Promise.all(named.map((by) => findContacts(db, organizationId, by)))).flat()
	const emails = contacts.flatMap(({ email }) => email ?? [])
	return {
		emails: [...new Set((isEmail ? [key, ...emails] : emails).flatMap(spellingsOf))],
		words: [...new Set(contacts.flatMap(({ name, phone }) => [name, phone ?? []].flat()))],
		contactIds: [...new Set(contacts.map(({ id }) => id))],
	}
}

/** Blanks a person in every record, event and mail but issued invoices, which the law asks to keep as they are. */
export const erasePerson = (db: Database, person: Person, request: ErasureRequest): Promise<Erasure> =>
	withTombstone(
		db,
		'person',
		request,
		async () => (await blankTables(db, person, request, true)) + (await removeDocumentsOfDrafts(db, request)),
	)

/**
 * Nothing finds a person in the bytes of a PDF. What is a draft again was not issued, and gets a new PDF when it is sent. Each
 * invoice is locked, as for sending it: what is sent in between keeps its PDF.
 */
async function removeDocumentsOfDrafts(db: Database, { organizationId }: ErasureRequest): Promise<number> {
	const lock = lockRow('invoices', tables.invoices as ErasableTable)
	let count = 0
	for (let part = partSize; part === partSize; ) {
		const found = await findDocumentsOfDrafts(db, organizationId, partSize)
		part = found.length
		count += await db.transaction(async (tx) => {
			let removed = 0
			for (const { id, invoiceId } of found)
				if (await tx.get(lock, { organizationId, id: invoiceId })) removed += await removeKeptDocument(tx, organizationId, id)
			return removed
		})
	}
	return count
}

/** How many rows `erasePerson` would change now. */
export const countRowsOf = (db: Database, person: Person, request: ErasureRequest): Promise<number> =>
	blankTables(db, person, request, false)

/** Those mails of the organization that name the person, or, without one, all of it. To be asked before they are erased. */
export async function findMailsOf(
	db: Database,
	ids: Iterable<string>,
	{ organizationId, now }: ErasureRequest,
	person?: Person,
): Promise<string[]> {
	const found: string[] = []
	for (const id of ids) {
		const row = await findMail(db, organizationId, id)
		if (row && (!person || blankRow(tables.mails as ErasableTable, row, person, now()))) found.push(id)
	}
	return found
}

async function withTombstone(
	db: Database,
	kind: Erasure['kind'],
	{ organizationId, origin, now }: ErasureRequest,
	work: () => Promise<number>,
): Promise<Erasure> {
	const begun = {
		organizationId,
		id: newId('era'),
		kind,
		erasedBy: origin.actor.id,
		startedAt: origin.now,
		finishedAt: null,
		rowCount: 0,
	}
	await db.transaction((tx) => insertErasure(tx, begun))
	const done = { ...begun, rowCount: await work(), finishedAt: now() }
	const record = { organizationId, resource: 'organization_settings', resourceId: organizationId } as const
	await db.transaction(async (tx) => {
		await finishErasure(tx, done)
		const after = { erasure: done.id, rowCount: done.rowCount }
		await recordChange({ db: tx, origin }, { ...record, action: 'erased', after })
	})
	return done
}

async function blankTables(db: Database, person: Person, request: ErasureRequest, write: boolean): Promise<number> {
	let rowCount = 0
	// Contacts last: until then a repetition finds who the person is.
	const isContacts = ([name]: [string, ErasableTable]) => Number(name === 'contacts')
	const inOrder = Object.entries(tables).sort((one, other) => isContacts(one) - isContacts(other))
	for (const [name, table] of inOrder) rowCount += await blankTable(db, { name, table, person, request, write })
	return rowCount
}

interface Blanking {
	readonly name: string
	readonly table: ErasableTable
	readonly person: Person
	readonly request: ErasureRequest
	/** False only counts the rows. */
	readonly write: boolean
}

/**
 * Looks for rows without a lock, since that may take long, and decides row by row on what each is once it is locked: a change or
 * a sending in between is neither undone nor overlooked.
 */
async function blankTable(db: Database, { name, table, person, request, write }: Blanking): Promise<number> {
	const { organizationId, origin, now } = request
	const { key, text = [], json = [], contact = [] } = table
	const columns = [...text.map((column) => column.replace('?', '')), ...json, ...contact]
	const needles = needlesOf(person)
	if (columns.length === 0 || Object.keys(needles).length === 0) return 0
	const find = findPart(name, table, columns, Object.keys(needles).length)
	const [lock, update] = [lockRow(name, table), updateRow(name, table)]
	const blankPart = async (tx: Db, keys: Row[], { now }: Origin) => {
		let count = 0
		for (const own of keys) {
			const row = await tx.get(lock, { organizationId, ...own })
			const blanked = row && withText(name, row, blankRow(table, row, person, now))
			if (!blanked) continue
			if (write) await tx.run(update, { organizationId, ...own, ...blanked })
			count++
		}
		return count
	}
	let rowCount = 0
	for (let after: Row = {}, keys: Row[] = []; ; ) {
		keys = await db.all(find, { organizationId, limit: partSize, ...needles, ...after })
		rowCount += write
			? await db.transaction(async (tx) =>
					blankPart(tx, keys, await takeChangeTime(tx, { ...origin, now: now() }, organizationId)),
				)
			: await blankPart(db, keys, origin)
		const last = keys.at(-1)
		if (keys.length < partSize || !last) return rowCount
		after = Object.fromEntries(key.map((column, index) => [`after${index}`, last[column]]))
	}
}

/** With what the row is found by from then on. */
function withText(table: string, row: Row, blanked: Row | undefined): Row | undefined {
	const textOf = searchTexts[table as SearchedTable] as ((row: Row) => string) | undefined
	return blanked && textOf ? { ...blanked, searchText: textOf({ ...row, ...blanked }) } : blanked
}

/** What changes in a row to take the person out of it; undefined if it does not name them. */
function blankRow({ text = [], json = [], contact = [], appendOnly }: ErasableTable, row: Row, person: Person, now: number) {
	const values = Object.fromEntries(json.map((name) => [name, parsed(row[name])]))
	const isAbout = contact.some((column) => column !== 'contactId' && person.contactIds.includes(row[column] as string))
	// The changes of an event are of the record in its data.
	const isTheirs = [row, values.data ?? {}].some((value) => isOf(value as object, person))
	const share = isAbout ? 'all' : isTheirs ? 'words' : 'addresses'
	const blanked: Row = {}
	for (const column of text) {
		const name = column.replace('?', '')
		const before = row[name]
		if (typeof before !== 'string') continue
		const after = blankText(before, name, person, share)
		if (after !== before) blanked[name] = column.endsWith('?') && (after === nobody || after === nowhere) ? null : after
	}
	for (const name of json) {
		const after = blankJson(values[name], name, person, share)
		if (!isDeepStrictEqual(after, values[name])) blanked[name] = JSON.stringify(after)
	}
	if (appendOnly) return isAbout || Object.keys(blanked).length > 0 ? erased(appendOnly, now) : undefined
	if (Object.keys(blanked).length === 0) return undefined
	// Clients and caches tell by the version whether what they have is still so.
	return 'version' in row ? { ...blanked, version: Number(row.version) + 1, updatedAt: now } : blanked
}

/** SQLite returns JSON as text. */
const parsed = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : value)

/** Patterns for LIKE, by the name of their parameter; also as JSON writes the text. */
function needlesOf({ emails, contactIds }: Person): Record<string, string> {
	const texts = [...emails, ...contactIds].flatMap((text) => [text, JSON.stringify(text).slice(1, -1)])
	const patterns = [...new Set(texts)].map((text) => `%${text.replace(/[\\%_]/g, '\\$&')}%`)
	return Object.fromEntries(patterns.map((pattern, index) => [`needle${index}`, pattern]))
}
