// Answers with the history of one record: its entries of the audit log.

import type { HistoryEntry, ResourceKind } from '../../generated/contract.ts'
import type { ApiError } from '../base/errors.ts'
import type { Db } from '../db/database.ts'
import type { PageQuery } from '../db/pages.ts'
import { answerPage, type ListCall, type ListContext } from '../http/record-handlers.ts'
import { readHistory } from './store.ts'

interface Call extends ListCall {
	readonly params: { readonly id: string }
}

interface Records {
	readonly kind: ResourceKind
	find(db: Db, organizationId: string, id: string): Promise<unknown>
	notFound(id: string): ApiError
}

/** The handler of `…/{id}/history` for a kind of record. A deleted record still has its history. */
export const historyHandler =
	({ kind, find, notFound }: Records) =>
	({ params: { id }, query, caller }: Call, context: ListContext & { readonly db: Db }) => {
		const { db } = context
		const { organizationId } = caller
		// By its kind too: a scope for companies opens no history of an invoice.
		const read = (page: PageQuery) => readHistory(db, { ...page, organizationId, resourceType: kind, resourceId: id })
		return answerPage<HistoryEntry>(`history of ${id}`, { query, caller }, context, async (page) => {
			const found = await read(page)
			// A record that is older than the log may have no entry.
			if (found.isEmpty && !(await exists())) throw notFound(id)
			return found
		})

		async function exists(): Promise<boolean> {
			if (await find(db, organizationId, id)) return true
			return !(await read({ limit: 1, offset: 0 })).isEmpty
		}
	}
