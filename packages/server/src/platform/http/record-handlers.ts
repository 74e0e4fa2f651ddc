// The handlers that most kinds of record have alike: list, get, create, update and remove.

import type { PageMeta } from '../../generated/contract.ts'
import type { Caller } from '../auth/caller.ts'
import type { ApiError } from '../base/errors.ts'
import type { Db } from '../db/database.ts'
import type { CountedPage, PageQuery, Place } from '../db/pages.ts'
import type { RecordJson } from '../db/records.ts'
import type { WriteContext } from '../db/write-context.ts'
import { type ListScope, openCursor, sealCursor } from '../lists/cursor.ts'
import { pageOfAll } from '../lists/given.ts'
import { dataText, listText } from './answers.ts'
import { etag } from './etag.ts'
import { type Context, writeContext } from './handler.ts'

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

/** The part of a store (platform/db/records.ts) that these handlers use. */
interface Records<R, Filter> {
	readonly kind: string
	read(db: Db, organizationId: string, id: string): Promise<RecordJson | undefined>
	lock(db: Db, organizationId: string, id: string): Promise<R | undefined>
	readPage(db: Db, organizationId: string, query: Filter & PageQuery): Promise<CountedPage>
	notFound(id: string): ApiError
}

interface ListQuery {
	readonly limit: number
	readonly offset: number
	readonly cursor?: string
}

export interface ListCall<Filter = object> {
	readonly query: Filter & ListQuery
	readonly caller: Caller
}

export type ListContext = Pick<Context, 'now'> & { readonly services: Pick<Context['services'], 'secrets'> }

interface FoundPage<Rows> {
	readonly rows: Rows
	readonly hasMore: boolean
	readonly total: number | null
	readonly end?: Place
	/** Whether more match the search than it ranks. */
	readonly isCut?: true
	/** Whether more may match than the total says. */
	readonly isAtLeast?: true
}

/** Answers with a page, and with the cursor of the next: the part that all lists have alike. `list` is the name of this one. */
export async function answerPage<R, Meta = PageMeta>(
	list: string,
	{ query, caller }: ListCall,
	{ now, services }: ListContext,
	read: (page: PageQuery) => Promise<FoundPage<Parameters<typeof listText>[0]>>,
) {
	const { limit, offset } = query
	const cursors = cursorsOf(list, { query, caller }, { now, services })
	const { rows, total, hasMore, end, isCut, isAtLeast } = await read({ limit, offset, after: cursors.after() })
	const next = end === undefined ? null : cursors.seal(end)
	const said = { ...(isCut && { truncated: true }), ...(isAtLeast && { isAtLeast }) }
	const meta = { total, limit, offset, hasMore, nextCursor: next, ...said }
	return { status: 200 as const, next, body: listText<R, Meta>(rows, meta as Meta) }
}

/** Answers with a page of records that are in memory, all of them. */
export const answerPageOfAll = <R>(list: string, call: ListCall, context: ListContext, all: readonly R[]) =>
	answerPage<R>(list, call, context, async (page) => {
		const { rows, ...found } = pageOfAll(all, page)
		return { rows: rows.map((row) => JSON.stringify(row)), ...found }
	})

/** The cursors of a request for a list. */
export function cursorsOf(list: string, { query, caller }: ListCall, { now, services: { secrets } }: ListContext) {
	const scope: ListScope = { list, organizationId: caller.organizationId, query: { ...query } }
	return {
		/** The place that the request's cursor names. */
		after: () => (query.cursor === undefined ? undefined : openCursor(secrets, scope, query.cursor, now)),
		seal: (place: Place) => sealCursor(secrets, scope, place, now),
	}
}

/** Answers with a page of records. */
export const listHandler =
	<R, Filter extends object, Meta = PageMeta>({ kind, readPage }: Pick<Records<R, Filter>, 'kind' | 'readPage'>) =>
	(call: ListCall<Filter>, context: ListContext & { readonly db: Db }) =>
		answerPage<R, Meta>(kind, call, context, (page) => {
			const { cursor: _, ...query } = call.query
			return readPage(context.db, call.caller.organizationId, { ...(query as unknown as Filter), ...page })
		})

/** Locks the record that a request changes. Throws 404 without the record, and 412 for another version than `If-Match`. */
export const lockForChange =
	<R extends Versioned>(records: Pick<Records<R, object>, 'lock' | 'notFound'>) =>
	async ({ params, caller, expectVersion }: Conditional, db: Db): Promise<R> => {
		const record = await records.lock(db, caller.organizationId, params.id)
		if (!record) throw records.notFound(params.id)
		expectVersion(record.version)
		return record
	}

/** Reads a kind of record, and answers the changes of one. `path` is where the records are. */
export function recordAnswers<R extends Versioned, Filter extends object>(records: Records<R, Filter>, path: string) {
	return {
		list: listHandler<R, Filter>(records),

		async get({ params, caller }: Named, { db }: { db: Db }) {
			const record = await records.read(db, caller.organizationId, params.id)
			if (!record) throw records.notFound(params.id)
			return { status: 200 as const, headers: { ETag: etag(record.version) }, body: dataText<R>(record.json) }
		},

		lock: lockForChange<R>(records),

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

/** The door to write a kind of record. `change` and `remove` get a record that is locked. */
interface Door<R, Create, Update> {
	create(write: WriteContext, input: Create): Promise<R>
	change(write: WriteContext, stored: R, input: Update): Promise<R>
	remove(write: WriteContext, stored: R): Promise<unknown>
}

/** What is left to say of a record that is gone. */
export const removed = { status: 200 as const, body: { ok: true as const } }

/** All handlers of a kind of record that is written in the request's transaction. */
export function recordHandlers<R extends Versioned, Filter extends object, Create, Update>(
	records: Records<R, Filter>,
	path: string,
	door: Door<R, Create, Update>,
) {
	const answers = recordAnswers(records, path)
	return {
		...answers,

		create: async ({ body, caller }: { body: Create; caller: Caller }, context: Context) =>
			answers.created(await door.create(writeContext(context, caller), body)),

		async update(call: Conditional & { body: Update }, context: Context) {
			const stored = await answers.lock(call, context.db)
			return answers.changed(await door.change(writeContext(context, call.caller), stored, call.body))
		},

		async remove(call: Conditional, context: Context) {
			await door.remove(writeContext(context, call.caller), await answers.lock(call, context.db))
			return removed
		},
	}
}
