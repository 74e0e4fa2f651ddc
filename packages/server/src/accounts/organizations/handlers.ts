import { etag } from '../../platform/http/etag.ts'
import { type Handler, writeContext } from '../../platform/http/handler.ts'
import { changeOrganization, lockOrganization, requireOrganization } from './store.ts'

export const get: Handler<'organization.get'> = async ({ caller }, { db }) => {
	const organization = await requireOrganization(db, caller.organizationId)
	return { status: 200, headers: { ETag: etag(organization.version) }, body: { data: organization } }
}

export const usage: Handler<'organization.usage.get'> = async ({ caller }, { db, storedBytes, now }) => ({
	status: 200,
	body: { data: await storedBytes.usage(db, caller.organizationId, now) },
})

export const update: Handler<'organization.update'> = async ({ body, caller, expectVersion }, context) => {
	const { db, callers, afterCommit } = context
	const stored = await lockOrganization(db, caller.organizationId)
	expectVersion(stored.version)
	const version = await changeOrganization(writeContext(context, caller), stored, body)
	afterCommit(() => callers.forget(caller.organizationId))
	return { status: 200, headers: { ETag: etag(version) }, body: { ok: true } }
}
