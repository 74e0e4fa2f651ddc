import type { AuditEntry } from '../../generated/contract.ts'
import type { Handler } from '../http/handler.ts'
import { answerPage } from '../http/record-handlers.ts'
import { readAuditLog } from './store.ts'

export const list: Handler<'audit.list'> = (call, context) => {
	const { actor, resource, limit: _, offset: _offset, cursor, ...rest } = call.query
	const filters = { ...(actor !== undefined && { actorId: actor }), ...(resource !== undefined && { resourceId: resource }) }
	const asked = { ...rest, ...filters, organizationId: call.caller.organizationId }
	return answerPage<AuditEntry>('audit', call, context, (page) => readAuditLog(context.db, { ...asked, ...page }))
}
