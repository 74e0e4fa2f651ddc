import { requireOrganization } from '../../../accounts/doors.ts'
import type { Connection, OrganizationSettings } from '../../../generated/contract.ts'
import { ApiError, fieldError } from '../../../platform/base/errors.ts'
import { recordChange } from '../../../platform/db/audit-log.ts'
import type { Handler } from '../../../platform/http/handler.ts'
import type { Services } from '../../../platform/outside/services.ts'
import { requireClient } from '../authorize.ts'
import { hashOfSecret, randomToken, saveLink } from '../link-store.ts'
import { manifestOf } from '../providers/providers.ts'
import { requireEnabled } from '../rules.ts'
import { connections } from '../store.ts'
import { isLinkable, urlOfLink } from './connect.ts'

const linkMs = 3_600_000

export const link: Handler<'connections.link'> = async ({ params: { id }, body, caller }, { db, services, origin, now }) => {
	const { organizationId } = caller
	const stored = await connections.lock(db, organizationId, id)
	if (!stored) throw connections.notFound(id)
	requireEnabled(stored)
	requireLinkable(services, stored)
	if (body?.returnUrl !== undefined) requireAllowed(await requireOrganization(db, organizationId), body.returnUrl)
	const token = randomToken()
	const expiresAt = now + linkMs
	const row = { linkHash: hashOfSecret(token), linkExpiresAt: expiresAt, linkReturnUrl: body?.returnUrl ?? null }
	await saveLink(db, stored, row)
	await recordChange({ db, origin }, { organizationId, resource: 'connection', resourceId: id, action: 'shared' })
	return { status: 200, body: { data: { url: urlOfLink(services.baseUrl, token), expiresAt } } }
}

function requireLinkable(services: Services, connection: Connection): void {
	const { id, authType } = connection
	if (!isLinkable(authType))
		throw new ApiError('invalid_connection', `The connection ${id} has ${authType}, for which there are no links.`)
	if (authType === 'oauth2') requireClient(services, manifestOf(connection))
}

function requireAllowed({ connectReturnOrigins }: OrganizationSettings, returnUrl: string): void {
	const { origin } = new URL(returnUrl)
	if (connectReturnOrigins.some((allowed) => URL.parse(allowed)?.origin === origin)) return
	const detail = `The organization's connectReturnOrigins do not have ${origin}.`
	throw fieldError('return_url_not_allowed', '/returnUrl', detail)
}
