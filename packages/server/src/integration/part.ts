// What this context gives to the app: operations, work without a request, what an erasure finds.

import { dayMs } from '../platform/base/dates.ts'
import type { Part } from '../platform/part.ts'
import { jobKinds } from '../platform/work/kinds.ts'
import { every } from '../platform/work/loop.ts'
import * as connections from './connections/handlers.ts'
import { keepAlive } from './connections/keep-alive.ts'
import * as connectionLinks from './connections/links/handlers.ts'
import * as connectionRecords from './connections/records/handlers.ts'
import { erasable } from './erasable.ts'
import * as mappings from './mappings/handlers.ts'
import * as mappingPreviews from './mappings/preview/handlers.ts'
import * as syncErrors from './syncs/decisions/error-handlers.ts'
import * as syncLinks from './syncs/decisions/link-handlers.ts'
import { runSync } from './syncs/engine/engine.ts'
import * as syncs from './syncs/handlers.ts'
import { removeOldRuns } from './syncs/jobs/retention-store.ts'
import { runSchedule } from './syncs/jobs/schedule.ts'
import { runWebhook } from './syncs/jobs/webhooks.ts'
import * as syncRuns from './syncs/run-handlers.ts'
import * as deliveries from './webhooks/delivery-handlers.ts'
import * as endpoints from './webhooks/endpoint-handlers.ts'
import { releaseHeld, workOffBacklogs } from './webhooks/engine/backlogs.ts'
import { DeliveryEngine } from './webhooks/engine/engine.ts'
import { releaseOverlong, repairQueue } from './webhooks/engine/repair-store.ts'
import { removeRetained, sweepHosts } from './webhooks/engine/retention-store.ts'

export const integration = {
	operations: {
		'connections.list': connections.list,
		'connections.create': connections.create,
		'connections.get': connections.get,
		'connections.update': connections.update,
		'connections.delete': connections.remove,
		'connections.authorize': connections.authorize,
		'connections.link': connectionLinks.link,
		'connections.test': connections.test,
		'connections.history': connections.history,
		'connections.objects.schema': connectionRecords.schema,
		'connections.providers.list': connections.listProviders,
		'mappings.list': mappings.list,
		'mappings.create': mappings.create,
		'mappings.defaults.list': mappings.listDefaults,
		'mappings.get': mappings.get,
		'mappings.update': mappings.update,
		'mappings.replace': mappings.update,
		'mappings.delete': mappings.remove,
		'mappings.preview': mappingPreviews.preview,
		'syncs.list': syncs.list,
		'syncs.create': syncs.create,
		'syncs.get': syncs.get,
		'syncs.update': syncs.update,
		'syncs.delete': syncs.remove,
		'syncs.history': syncs.history,
		'syncs.pause': syncs.pause,
		'syncs.resume': syncs.resume,
		'syncs.cancel': syncs.cancel,
		'syncs.run': syncs.run,
		'syncs.errors.list': syncErrors.list,
		'syncs.errors.get': syncErrors.get,
		'syncs.errors.resolve': syncErrors.resolve,
		'syncs.links.list': syncLinks.list,
		'syncs.links.create': syncLinks.create,
		'syncs.links.get': syncLinks.get,
		'syncs.links.delete': syncLinks.remove,
		'syncs.runs.list': syncRuns.list,
		'syncs.runs.get': syncRuns.get,
		'syncs.runs.errors.list': syncRuns.listErrors,
		'syncs.runs.deletions.list': syncLinks.listDeletions,
		'syncs.runs.confirm': syncRuns.confirm,
		'webhooks.endpoints.list': endpoints.list,
		'webhooks.endpoints.create': endpoints.create,
		'webhooks.endpoints.get': endpoints.get,
		'webhooks.endpoints.update': endpoints.update,
		'webhooks.endpoints.delete': endpoints.remove,
		'webhooks.endpoints.stats': endpoints.stats,
		'webhooks.endpoints.rotateSecret': endpoints.rotateSecret,
		'webhooks.endpoints.test': endpoints.test,
		'webhooks.endpoints.redeliver': endpoints.redeliver,
		'webhooks.deliveries.list': deliveries.list,
		'webhooks.deliveries.get': deliveries.get,
		'webhooks.deliveries.redeliver': deliveries.redeliver,
	},
	jobs: ({ db, config, log, services, requests, stored, requireStorage, ran }) => ({
		[jobKinds.retention]: removeRetained(db, config.WEBHOOK_RETENTION_DAYS),
		[jobKinds.syncRetention]: removeOldRuns(db),
		[jobKinds.syncSchedule]: runSchedule(db),
		[jobKinds.syncWebhook]: runWebhook(db),
		[jobKinds.tokenKeepAlive]: keepAlive(db, services),
		[jobKinds.syncRun]: runSync({
			db,
			services,
			requests,
			stored,
			requireStorage,
			keptMs: config.WEBHOOK_RETENTION_DAYS * dayMs,
			ended: ({ outcome, error, ...run }) => {
				ran?.(outcome, error ?? '')
				if (error) log.warn({ ...run, outcome, error }, 'a run of a sync failed, or waits')
			},
			failed: (err, runId) => log.error({ err, runId }, 'a run of a sync cannot go on'),
		}),
	}),
	engine: ({ config, services, ...context }) =>
		new DeliveryEngine({
			...context,
			egress: services.egress,
			secrets: services.secrets,
			schedule: config.WEBHOOK_RETRY_SECONDS,
			timeoutMs: config.WEBHOOK_TIMEOUT_SECONDS * 1000,
			hostRate: config.WEBHOOK_HOST_RATE,
		}),
	loops: ({ db, config, now, log }) => [
		every(500, (signal) => workOffBacklogs(db, now, signal), log),
		every(1_000, (signal) => releaseHeld(db, now(), signal), log),
		every(60_000, (signal) => releaseOverlong(db, config.WEBHOOK_RETRY_SECONDS, now(), signal), log),
		every(600_000, (signal) => repairQueue(db, now(), signal), log),
		// Hosts belong to no organization.
		every(3_600_000, (signal) => sweepHosts(db, now(), signal), log),
	],
	erasable,
} satisfies Part
