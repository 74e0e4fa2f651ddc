// Where personal data may be in the tables of this context (app/erase/tables.ts).
import type { ErasableTables } from '../platform/db/erasable.ts'

export const erasable: ErasableTables = {
	webhook_attempts: { key: ['deliveryId', 'number'], text: ['responseBody?', 'error?'], plain: ['request'] },
	webhook_deliveries: {
		key: ['id'],
		text: ['lastError?'],
		plain: ['endpointId', 'eventId', 'eventType', 'resourceId', 'status'],
	},
	webhook_endpoint_hours: { key: ['endpointId', 'place'] },
	webhook_endpoints: {
		key: ['id'],
		text: ['description?'],
		json: ['eventTypes', 'resources', 'headerNames'],
		plain: [
			'url',
			'host',
			'status',
			'disabledReason',
			'secretHint',
			'secret',
			'previousSecret',
			'skipUpTo',
			'againAfter',
			'againUpTo',
			'againStatus',
			'forwardAfter',
			'ordering',
			'headers',
		],
	},
	connections: {
		key: ['id'],
		text: ['name', 'credentialHint?', 'statusReason?'],
		json: ['account', 'config', 'grantedScopes', 'missingScopes', 'lastError'],
		plain: [
			...['provider', 'authType', 'status', 'credentials', 'token', 'stateHash', 'stateVerifier', 'stateBrowser', 'returnUrl'],
			...['linkHash', 'linkReturnUrl'],
		],
	},
	mapping_versions: { key: ['mappingId', 'version'], json: ['source', 'target', 'fields', 'match'] },
	mappings: {
		key: ['id'],
		json: ['source', 'target', 'fields', 'match', 'validation'],
		plain: ['name', 'status', 'connectionId'],
	},
	sync_record_errors: {
		key: ['id'],
		plain: ['syncId', 'runId', 'firstRunId', 'direction', 'recordKey', 'externalId', 'recordId', 'decision'],
		json: ['errors'],
	},
	sync_ended_links: { key: ['connectionId', 'object', 'kind', 'externalId'], plain: ['recordId'] },
	sync_links: {
		key: ['connectionId', 'object', 'kind', 'recordId'],
		json: ['pending', 'lastSeen', 'overruled'],
		plain: [
			'externalId',
			'externalHash',
			'internalHash',
			'pushedHash',
			'remoteHash',
			'seenRunId',
			'goneRunId',
			'heldBy',
			'heldRunId',
			'decision',
			'decidedFor',
		],
	},
	sync_runs: { key: ['id'], json: ['progress', 'error', 'checkpoint'], plain: ['syncId', 'trigger', 'mode', 'status'] },
	syncs: {
		key: ['id'],
		json: ['schedule', 'lastRun', 'state'],
		plain: [
			...['name', 'connectionId', 'mappingId', 'reverseMappingId', 'direction', 'mode'],
			...['conflictPolicy', 'deletePolicy', 'errorPolicy', 'status', 'statusReason'],
		],
	},
}
