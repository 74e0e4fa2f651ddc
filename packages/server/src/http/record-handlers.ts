// What the handlers of most records do and answer alike: a page, one record, a new one's address, a change's version.
import type { Caller } from '../auth/caller.ts'
import { ApiError } from '../base/errors.ts'
import type { Db } from '../db/database.ts'
import type { RecordStore } from '../db/records.ts'
import type { ErrorCode, PageMeta } from '../generated/contract.ts'
import { dataText, listText } from './answers.ts'
import { etag } from './etag.ts'

interface Kind {
	/** In words, for refusals. */
	readonly name: string
	/** The refusal of an id that no record has. */
	readonly notFound: ErrorCode
	/** Where its records are. */
	readonly path: string
}

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

export function answersOf<R extends Versioned, Filter extends object>(store: RecordStore<R, Filter>, kind: Kind) {
	const notFound = (id: string) => new ApiError(kind.notFound, `There is no ${kind.name} ${id}.`)
	return {
		async list(call: { query: Filter & { limit: number; offset: number }; caller: Caller }, { db }: { db: Db }) {
			const { limit, offset } = call.query
			const { rows, total } = await store.list(db, call.caller.organizationId, call.query)
			return { status: 200 as const, body: listText<R, PageMeta>(rows, { total, limit, offset }) }
		},

		async get({ params, caller }: Named, { db }: { db: Db }) {
			const record = await store.find(db, caller.organizationId, params.id)
			if (!record) throw notFound(params.id)
			return { status: 200 as const, headers: { ETag: etag(record.version) }, body: dataText<R>(record.json) }
		},

		/** The record that a request is to change: it is there, has the version that `If-Match` asks for, and is locked. */
		async lock({ params, caller, expectVersion }: Conditional, db: Db): Promise<R> {
			const record = await store.lock(db, caller.organizationId, params.id)
			if (!record) throw notFound(params.id)
			expectVersion(record.version)
			return record
		},

		created: ({ id, version }: Versioned) => ({
			status: 201 as const,
			headers: { Location: `${kind.path}/${id}`, ETag: etag(version) },
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
