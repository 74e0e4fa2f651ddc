// What the handlers of most records do and answer alike: a page, one record, a new one's address, a change's version.
import type { Caller } from '../auth/caller.ts'
import type { ApiError } from '../base/errors.ts'
import type { Db } from '../db/database.ts'
import type { RecordJson } from '../db/records.ts'
import type { PageMeta } from '../generated/contract.ts'
import { dataText, listText } from './answers.ts'
import { etag } from './etag.ts'

interface Named {
	readonly params: { readonly id: string }
	readonly caller: Caller
}

interface Conditional extends Named {
	expectVersion(version: number): void
}

interface Versioned {
	readonly id: string
	readonly version: number
}

/** What the handlers need of the store of a kind (db/records.ts). */
interface Records<R, Filter> {
	read(db: Db, organizationId: string, id: string): Promise<RecordJson | undefined>
	lock(db: Db, organizationId: string, id: string): Promise<R | undefined>
	readPage(db: Db, organizationId: string, query: Filter & Page): Promise<{ rows: string[]; total: number }>
	notFound(id: string): ApiError
}

interface Page {
	readonly limit: number
	readonly offset: number
}

/** A page of a kind of record. */
export const listHandler =
	<R, Filter extends object>(records: Pick<Records<R, Filter>, 'readPage'>) =>
	async (call: { query: Filter & Page; caller: Caller }, { db }: { db: Db }) => {
		const { limit, offset } = call.query
		const { rows, total } = await records.readPage(db, call.caller.organizationId, call.query)
		return { status: 200 as const, body: listText<R, PageMeta>(rows, { total, limit, offset }) }
	}

/** `path` is where the records are. */
export function recordHandlers<R extends Versioned, Filter extends object>(records: Records<R, Filter>, path: string) {
	return {
		list: listHandler<R, Filter>(records),

		async get({ params, caller }: Named, { db }: { db: Db }) {
			const record = await records.read(db, caller.organizationId, params.id)
			if (!record) throw records.notFound(params.id)
			return { status: 200 as const, headers: { ETag: etag(record.version) }, body: dataText<R>(record.json) }
		},

		/** The record that a request is to change: it is there, has the version that `If-Match` asks for, and is locked. */
		async lock({ params, caller, expectVersion }: Conditional, db: Db): Promise<R> {
			const record = await records.lock(db, caller.organizationId, params.id)
			if (!record) throw records.notFound(params.id)
			expectVersion(record.version)
			return record
		},

		created: ({ id, version }: Versioned) => ({
			status: 201 as const,
			headers: { Location: `${path}/${id}`, ETag: etag(version) },
			body: { id },
		}),

		changed: ({ version }: Versioned) => ({
			status: 200 as const,
			headers: { ETag: etag(version) },
			body: { ok: true as const },
		}),
	}
}

/** What is left to say of a record that is gone. */
export const removed = { status: 200 as const, body: { ok: true as const } }
