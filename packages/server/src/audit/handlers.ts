import type { AuditEntry, CursorMeta } from '../generated/contract.ts'
import { listText } from '../http/answers.ts'
import type { Handler } from '../http/handler.ts'
import { readAuditLog } from './store.ts'

export const list: Handler<'audit.list'> = async ({ query, caller }, { db }) => {
	const { actor, resource, ...page } = query
	const filters = { ...(actor !== undefined && { actorId: actor }), ...(resource !== undefined && { resourceId: resource }) }
	const { rows, meta } = await readAuditLog(db, { ...page, ...filters, organizationId: caller.organizationId })
	return { status: 200, body: listText<AuditEntry, CursorMeta>(rows, meta) }
}
