// The logo of an organization. It is rendered before it is stored: an image that the PDF cannot show would keep invoices from being sent.

import type { Logo } from '../../generated/contract.ts'
import { ApiError } from '../../platform/base/errors.ts'
import { type Handler, type SelfManagedContext, writeContext } from '../../platform/http/handler.ts'
import { checkLogo, invalidLogo } from './logo.ts'
import { findLogo, removeUnusedLogo, saveLogo } from './logo-store.ts'
import { changeOrganization, lockOrganization, requireOrganization } from './store.ts'

export const get: Handler<'organization.logo.get'> = async ({ caller }, { db }) => {
	const { organizationId } = caller
	const { logo } = await requireOrganization(db, organizationId)
	const bytes = logo && (await findLogo(db, { organizationId, sha256: logo.sha256 }))
	const data = logo && bytes ? { logo, data: Buffer.from(bytes).toString('base64') } : { logo: null, data: null }
	return { status: 200, body: { data } }
}

export const replace: Handler<'organization.logo.replace'> = async ({ body, caller }, context: SelfManagedContext) => {
	const { services, callers } = context
	const { organizationId } = caller
	const bytes = Buffer.from(body.data, 'base64')
	const logo = checkLogo(bytes)
	await services.pdf
		.tryLogo({ format: logo.format, width: logo.width, height: logo.height, data: body.data }, organizationId)
		.catch((error) => {
			if (error instanceof ApiError) throw error
			throw invalidLogo('The PDF cannot show the logo, or not soon enough: save it anew with another program.')
		})
	const answer = await context.commit(async (db, origin) => {
		const stored = await lockOrganization(db, organizationId)
		await saveLogo(db, origin, { organizationId, sha256: logo.sha256 }, bytes)
		await changeOrganization(writeContext({ db, origin }, caller), stored, { logo })
		if (stored.logo && stored.logo.sha256 !== logo.sha256) await removeUnusedLogo(db, keyOf(organizationId, stored.logo))
		return { status: 200 as const, body: { ok: true as const } }
	})
	callers.forget(organizationId)
	return answer
}

export const remove: Handler<'organization.logo.delete'> = async ({ caller }, context) => {
	const { db, callers, afterCommit } = context
	const { organizationId } = caller
	const stored = await lockOrganization(db, organizationId)
	await changeOrganization(writeContext(context, caller), stored, { logo: null })
	if (stored.logo) await removeUnusedLogo(db, keyOf(organizationId, stored.logo))
	afterCommit(() => callers.forget(organizationId))
	return { status: 200, body: { ok: true } }
}

const keyOf = (organizationId: string, { sha256 }: Logo) => ({ organizationId, sha256 })
