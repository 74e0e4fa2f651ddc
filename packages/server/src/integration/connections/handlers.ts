import type { Connection, ConnectionConfig, Provider } from '../../generated/contract.ts'
import { historyHandler } from '../../platform/audit/history.ts'
import { ApiError } from '../../platform/base/errors.ts'
import { recordChange } from '../../platform/db/audit-log.ts'
import type { Db } from '../../platform/db/database.ts'
import { requireSafeUrl } from '../../platform/http/caller-urls.ts'
import { type Handler, writeContext } from '../../platform/http/handler.ts'
import { answerPageOfAll, recordAnswers, removed } from '../../platform/http/record-handlers.ts'
import type { Egress } from '../../platform/outside/egress.ts'
import type { Secrets } from '../../platform/outside/secrets.ts'
import { forgetAuthorization } from './authorization-store.ts'
import { begin } from './authorize.ts'
import { columnsOf, testConnection } from './probe.ts'
import type { Manifest } from './providers/manifest.ts'
import { manifestOf, providers } from './providers/providers.ts'
import {
	isOtherConfig,
	isOtherTenant,
	requireAuthType,
	requireConfig,
	requireCredentials,
	requireEnabled,
	requireProvider,
	requireSameOrigin,
	statusAfter,
	urls,
} from './rules.ts'
import { changeConnection, connections, createConnection, credentialColumns, removeConnection } from './store.ts'
import { findTokenRow, forgetToken, lockTokenRow, openToken, scheduleKeepAlive } from './token-store.ts'
import { revoke, serverClient } from './tokens.ts'

const answers = recordAnswers(connections, '/connections')

export const { list, get } = answers

export const history = historyHandler(connections)

export const listProviders: Handler<'connections.providers.list'> = (call, context) => {
	const shown = (manifest: Manifest) => shownOf(manifest, serverClient(context.services, manifest) !== undefined)
	return answerPageOfAll<Provider>('provider', call, context, providers.map(shown))
}

const shownOf = ({ id, name, apiVersion, authTypes, objects }: Manifest, configured: boolean): Provider => ({
	id,
	name,
	apiVersion,
	authTypes: [...authTypes],
	configured,
	objects: objects.map((object) => ({ name: object.name, idField: object.idField, fields: [...object.fields] })),
})

export const create: Handler<'connections.create'> = async ({ body, caller }, { services, commit }) => {
	const { provider, authType, credentials = {}, config = {} } = body
	const manifest = requireProvider(provider)
	requireAuthType(manifest, authType)
	// Without them a person brings them later, by a link.
	if (body.credentials || authType === 'client_credentials') requireCredentials(manifest, authType, credentials)
	requireConfig(manifest, authType, config)
	await requireSafeUrls(services.egress, config, caller.organizationId)
	return commit(async (tx, origin) =>
		answers.created(await createConnection(writeContext({ db: tx, origin }, caller), services.secrets, body)),
	)
}

export const update: Handler<'connections.update'> = async (call, { services, origin, commit }) => {
	const { body, caller, params } = call
	const { organizationId } = caller
	if (body.config) await requireSafeUrls(services.egress, body.config, organizationId)
	const columns = body.credentials && credentialColumns(services.secrets, { organizationId, id: params.id }, body.credentials)
	return commit(async (tx) => {
		const stored = await answers.lock(call, tx)
		if (body.credentials) requireCredentials(manifestOf(stored), stored.authType, body.credentials)
		if (body.config) requireConfig(manifestOf(stored), stored.authType, body.config)
		requireSameOrigin(stored, body)
		const { credentials, status, ...shown } = body
		// A token, an account and scopes of other credentials, or from elsewhere, are none of these.
		const isOther = body.credentials !== undefined || isOtherConfig(stored, body)
		if (isOther) await forgetToken(tx, stored)
		if (body.credentials || body.status === 'disabled') await forgetAuthorization(tx, stored)
		const withoutToken = isOther && {
			expiresAt: null,
			lastRefreshedAt: null,
			account: null,
			grantedScopes: [],
			missingScopes: [],
		}
		if (stored.status === 'disabled' && status === 'active') await reviveToken(tx, services.secrets, stored)
		const withoutAccount = isOtherTenant(stored, body) && { account: null }
		const changes = { ...shown, ...columns, ...withoutToken, ...withoutAccount, ...statusAfter(stored, body) }
		return answers.changed(await changeConnection({ db: tx, origin }, stored, changes))
	})
}

/** Nobody kept the refresh token of a connection in use that was disabled. */
async function reviveToken(tx: Db, secrets: Secrets, stored: Connection): Promise<void> {
	const row = await findTokenRow(tx, stored)
	const token = row && openToken(secrets, row)
	if (token) await scheduleKeepAlive(tx, stored, token)
}

export const remove: Handler<'connections.delete'> = async (call, { services, origin, commit }) => {
	let afterwards = async () => {}
	await commit(async (tx) => {
		const stored = await answers.lock(call, tx)
		const row = await findTokenRow(tx, stored)
		const token = row && openToken(services.secrets, row)
		if (token) afterwards = () => revoke(services, stored, token)
		await removeConnection({ db: tx, origin }, stored)
		return removed
	})
	await afterwards()
	return removed
}

export const authorize: Handler<'connections.authorize'> = async ({ params: { id }, body, caller }, context) => {
	const { db, commit } = context
	const connection = await connections.find(db, caller.organizationId, id)
	if (!connection) throw connections.notFound(id)
	const { answer, store } = begin(context, connection, body?.returnUrl ?? null)
	return commit(async (tx) => {
		const stored = await connections.lock(tx, caller.organizationId, id)
		if (!stored) throw connections.notFound(id)
		requireEnabled(stored)
		await store(tx)
		return { status: 200, body: { data: answer } }
	})
}

export const test: Handler<'connections.test'> = async ({ params: { id }, caller, signal }, context) => {
	const { db, services, now, origin, commit } = context
	const { organizationId } = caller
	const key = { organizationId, id }
	const row = await findTokenRow(db, key)
	if (!row) throw connections.notFound(id)
	requireEnabled(row.connection)
	const { outcome, tested } = await testConnection({ db, services, now }, row, signal())
	if ('error' in outcome && outcome.error.code === 'credentials_lost') throw new ApiError('unavailable', outcome.error.detail)
	return commit(async (tx) => {
		const current = await lockTokenRow(tx, key)
		if (!current) throw connections.notFound(id)
		const stored = current.connection
		const audited = { organizationId, resource: 'connection', resourceId: id, action: 'tested' } as const
		await recordChange({ db: tx, origin }, { ...audited, after: 'error' in outcome ? outcome.error : null })
		// What a caller changed meanwhile was not tested.
		const isSame = stored.status !== 'disabled' && current.tokenGeneration === tested.tokenGeneration
		const data = isSame ? await changeConnection({ db: tx, origin }, stored, columnsOf(stored, outcome, now)) : stored
		return { status: 200, body: { data } }
	})
}

async function requireSafeUrls(egress: Egress, config: ConnectionConfig, organizationId: string): Promise<void> {
	for (const name of urls) {
		const url = config[name]
		if (url !== undefined) await requireSafeUrl(egress, url, `/config/${name}`, organizationId)
	}
}
