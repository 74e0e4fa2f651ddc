// Answers with the history of one record: its entries of the audit log.
import type { Caller } from '../auth/caller.ts'
import type { ApiError } from '../base/errors.ts'
import type { Db } from '../db/database.ts'
import type { CursorMeta, HistoryEntry, ResourceKind } from '../generated/contract.ts'
import { listText } from '../http/answers.ts'
import { readHistory } from './store.ts'

interface Call {
	readonly params: { readonly id: string }
	readonly query: { readonly limit: number; readonly offset: number; readonly cursor?: string }
	readonly caller: Caller
}

interface Records {
	readonly kind: ResourceKind
	find(db: Db, organizationId: string, id: string): Promise<unknown>
	notFound(id: string): ApiError
}

/** The handler of `…/{id}/history` for a kind of record. A deleted record still has its history. */
export const historyHandler =
	({ kind, find, notFound }: Records) =>
	async ({ params: { id }, query, caller: { organizationId } }: Call, { db }: { db: Db }) => {
		// By its kind too: a scope for companies opens no history of an invoice.
		const { rows, isEmpty, meta } = await readHistory(db, { ...query, organizationId, resourceType: kind, resourceId: id })
		// A record that is older than the log may have no entry.
		if (isEmpty && !(await exists())) throw notFound(id)
		return { status: 200 as const, body: listText<HistoryEntry, CursorMeta>(rows, meta) }

		async function exists(): Promise<boolean> {
			if (await find(db, organizationId, id)) return true
			const page = { limit: 1, offset: 0, organizationId, resourceType: kind, resourceId: id }
			return !(await readHistory(db, page)).isEmpty
		}
	}
