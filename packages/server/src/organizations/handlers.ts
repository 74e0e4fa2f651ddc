import { etag } from '../http/etag.ts'
import type { Handler } from '../http/handler.ts'
import { lockOrganization, requireOrganization, updateOrganization } from './store.ts'

export const get: Handler<'organization.get'> = async ({ caller }, { db }) => {
	const { organizationId: id, nextInvoiceNumber, ...settings } = await requireOrganization(db, caller.organizationId)
	return { status: 200, headers: { ETag: etag(settings.version) }, body: { data: { id, ...settings } } }
}

export const update: Handler<'organization.update'> = async (
	{ body, caller, expectVersion },
	{ db, now, callers, afterCommit },
) => {
	const organization = await lockOrganization(db, caller.organizationId)
	if (!organization) throw new Error(`organization ${caller.organizationId} is gone`)
	expectVersion(organization.version)
	const version = await updateOrganization(db, organization, body, now)
	afterCommit(() => callers.forget(caller.organizationId))
	return { status: 200, headers: { ETag: etag(version) }, body: { ok: true } }
}
