import { historyHandler } from '../audit/history.ts'
import { ApiError, fieldError } from '../base/errors.ts'
import { recordChange } from '../db/audit-log.ts'
import type { Connection, ConnectionConfig, Provider } from '../generated/contract.ts'
import { type Handler, writeContext } from '../http/handler.ts'
import { recordAnswers, removed } from '../http/record-handlers.ts'
import { type Egress, UnresolvableUrl, UnsafeUrl } from '../outside/egress.ts'
import { ResolverUnavailable } from '../outside/resolver.ts'
import { columnsOf, type Outcome, probe } from './probe.ts'
import type { Manifest } from './providers/manifest.ts'
import { findProvider, providers } from './providers/providers.ts'
import {
	requireAuthType,
	requireConfig,
	requireCredentials,
	requireEnabled,
	requireProvider,
	requireSameOrigin,
	statusAfter,
} from './rules.ts'
import {
	changeConnection,
	connections,
	createConnection,
	credentialColumns,
	findSealedCredentials,
	openCredentials,
	removeConnection,
} from './store.ts'

const answers = recordAnswers(connections, '/connections')

export const { list, get } = answers

export const history = historyHandler(connections)

export const listProviders: Handler<'connections.providers.list'> = async ({ query: { limit, offset } }) => {
	const data = providers.slice(offset, offset + limit).map(shownOf)
	return { status: 200, body: { data, meta: { total: providers.length, limit, offset } } }
}

const shownOf = ({ id, name, apiVersion, authTypes, objects }: Manifest): Provider => ({
	id,
	name,
	apiVersion,
	authTypes: [...authTypes],
	objects: objects.map((object) => ({ name: object.name, idField: object.idField, fields: [...object.fields] })),
})

export const create: Handler<'connections.create'> = async ({ body, caller }, { services, origin, commit }) => {
	const { provider, authType, credentials, config = {} } = body
	const manifest = requireProvider(provider)
	requireAuthType(manifest, authType)
	requireCredentials(authType, credentials)
	requireConfig(manifest, authType, config)
	await requireSafeUrls(services.egress, config, caller.organizationId)
	return commit(async (tx) =>
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
		if (body.credentials) requireCredentials(stored.authType, body.credentials)
		if (body.config) requireConfig(manifestOf(stored), stored.authType, body.config)
		requireSameOrigin(stored, body)
		const { credentials, status, ...shown } = body
		const changes = { ...shown, ...columns, ...statusAfter(stored, body) }
		return answers.changed(await changeConnection({ db: tx, origin }, stored, changes))
	})
}

export const remove: Handler<'connections.delete'> = async (call, context) => {
	await removeConnection(context, await answers.lock(call, context.db))
	return removed
}

export const test: Handler<'connections.test'> = async ({ params: { id }, caller, signal }, context) => {
	const { db, services, now, origin, commit } = context
	const { organizationId } = caller
	const connection = await connections.find(db, organizationId, id)
	const sealed = connection && (await findSealedCredentials(db, connection))
	if (sealed === undefined) throw connections.notFound(id)
	requireEnabled(connection as Connection)
	const outcome = await outcomeOf(connection as Connection, sealed)
	return commit(async (tx) => {
		const stored = await connections.lock(tx, organizationId, id)
		if (!stored) throw connections.notFound(id)
		const audited = { organizationId, resource: 'connection', resourceId: id, action: 'tested' } as const
		await recordChange({ db: tx, origin }, { ...audited, after: 'error' in outcome ? outcome.error : null })
		// What a caller changed meanwhile was not tested.
		const isSame = stored.status !== 'disabled' && (await findSealedCredentials(tx, stored)) === sealed
		const data = isSame ? await changeConnection({ db: tx, origin }, stored, columnsOf(stored, outcome, now)) : stored
		return { status: 200, body: { data } }
	})

	async function outcomeOf(connection: Connection, sealed: string): Promise<Outcome> {
		const credentials = openCredentials(services.secrets, connection, sealed)
		if (credentials) return probe(services, manifestOf(connection), connection, credentials, signal())
		return { error: { code: 'credentials_lost', detail: 'The server cannot read the credentials: set them again.' } }
	}
}

function manifestOf({ provider }: Connection): Manifest {
	const manifest = findProvider(provider)
	if (!manifest) throw new Error(`the provider ${provider} is gone`)
	return manifest
}

/** Checks URLs before they are stored; egress checks the addresses again for every socket that it opens. */
async function requireSafeUrls(egress: Egress, { baseUrl }: ConnectionConfig, organizationId: string): Promise<void> {
	if (baseUrl === undefined) return
	const pointer = '/config/baseUrl'
	try {
		await egress.check(baseUrl, organizationId)
	} catch (error) {
		if (error instanceof UnsafeUrl) throw fieldError('unsafe_url', pointer, error.message)
		if (error instanceof UnresolvableUrl) throw fieldError('unresolvable_url', pointer, error.message)
		if (!(error instanceof ResolverUnavailable)) throw error
		const headers = { 'Retry-After': '5' }
		throw new ApiError('resolver_unavailable', `${error.message} The URL was not judged: try again.`, { headers })
	}
}
