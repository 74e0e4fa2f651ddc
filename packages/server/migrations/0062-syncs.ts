import type { Knex } from 'knex'

/** Syncs, their runs, what links records of both sides, and the records that could not be written. */
export async function up(knex: Knex): Promise<void> {
	const sqlite = knex.client.config.client === 'better-sqlite3'
	// The second sort key of lists, by bytes on both databases.
	const bytewise = sqlite ? 'text' : 'text collate "C"'
	const own = (table: Knex.CreateTableBuilder) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.specificType('id', bytewise).notNullable()
		table.primary(['organizationId', 'id'])
	}
	const times = (table: Knex.CreateTableBuilder) => {
		table.bigInteger('createdAt').notNullable()
		table.bigInteger('updatedAt').notNullable()
	}
	await knex.schema.createTable('syncs', (table) => {
		own(table)
		table.text('name').notNullable()
		table.specificType('connectionId', bytewise).notNullable()
		table.specificType('mappingId', bytewise).notNullable()
		table.specificType('reverseMappingId', bytewise)
		table.text('direction').notNullable()
		table.text('mode').notNullable()
		table.json('schedule').notNullable()
		table.text('conflictPolicy').notNullable()
		table.text('deletePolicy').notNullable()
		table.text('errorPolicy').notNullable()
		table.boolean('keepSeen').notNullable()
		table.text('status').notNullable()
		table.text('statusReason')
		table.bigInteger('nextRunAt')
		table.json('lastRun')
		// How far the runs that came to their end have read.
		table.json('state').notNullable()
		table.bigInteger('deletedAt')
		times(table)
		table.integer('version').notNullable()
		table.index(['organizationId', 'createdAt', 'id'], 'syncs_by_creation')
		table.index(['organizationId', 'status', 'createdAt', 'id'], 'syncs_by_status')
		table.index(['organizationId', 'connectionId', 'createdAt', 'id'], 'syncs_by_connection')
		table.index(['organizationId', 'mappingId'], 'syncs_by_mapping')
		table.index(['organizationId', 'reverseMappingId'], 'syncs_by_reverse_mapping')
	})
	await knex.schema.createTable('sync_runs', (table) => {
		own(table)
		table.specificType('syncId', bytewise).notNullable()
		table.text('trigger').notNullable()
		table.text('mode').notNullable()
		table.text('status').notNullable()
		table.integer('attempt').notNullable()
		table.integer('mappingVersion').notNullable()
		table.integer('reverseMappingVersion')
		table.json('progress').notNullable()
		table.json('error')
		table.bigInteger('waitingUntil')
		table.bigInteger('startedAt')
		table.bigInteger('finishedAt')
		// Where it goes on after a kill.
		table.json('checkpoint').notNullable()
		times(table)
		table.foreign(['organizationId', 'syncId']).references(['organizationId', 'id']).inTable('syncs')
		table.index(['organizationId', 'syncId', 'id'], 'sync_runs_by_sync')
	})
	// One run of a sync at a time.
	await knex.raw(`create unique index sync_runs_under_way on sync_runs ("organizationId", "syncId") where "finishedAt" is null`)
	await knex.schema.createTable('sync_links', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.specificType('connectionId', bytewise).notNullable()
		table.text('object').notNullable()
		// Of Remit: company or invoice.
		table.text('kind').notNullable()
		table.specificType('recordId', bytewise).notNullable()
		// Null until the provider has said it.
		table.text('externalId')
		// What the inbound mapping made of the provider's record, and the fields that it writes as they were then.
		table.text('externalHash')
		table.text('internalHash')
		// What the outbound mapping made of Remit's record, and the fields that it writes as the provider then had them.
		table.text('pushedHash')
		table.text('remoteHash')
		// A write of which nobody knows yet what became of it: its idempotency key, what was written, and since when.
		table.json('pending')
		// The last full run that read it, and the run that found its other side gone.
		table.specificType('seenRunId', bytewise)
		table.specificType('goneRunId', bytewise)
		table.json('lastSeen')
		table.bigInteger('lastSeenAt')
		times(table)
		table.primary(['organizationId', 'connectionId', 'object', 'kind', 'recordId'])
		table.unique(['organizationId', 'connectionId', 'object', 'kind', 'externalId'], {
			indexName: 'sync_links_by_external_id',
		})
	})
	// What is kept of the provider's records goes after a while.
	await knex.raw(`create index sync_links_by_seen on sync_links ("organizationId", "lastSeenAt") where "lastSeen" is not null`)
	await knex.raw(
		`create index sync_links_gone on sync_links ("organizationId", "connectionId", object, kind, "goneRunId") where "goneRunId" is not null`,
	)
	await knex.raw(
		`create index sync_links_pending on sync_links ("organizationId", "connectionId", object, kind, "recordId") where pending is not null and "externalId" is null`,
	)
	await knex.schema.createTable('sync_record_errors', (table) => {
		own(table)
		table.specificType('syncId', bytewise).notNullable()
		table.specificType('runId', bytewise).notNullable()
		table.text('direction').notNullable()
		// The id by which the run knew the record.
		table.specificType('recordKey', bytewise).notNullable()
		table.text('externalId')
		table.specificType('recordId', bytewise)
		table.json('errors').notNullable()
		table.bigInteger('createdAt').notNullable()
		table.bigInteger('resolvedAt')
		table.unique(['organizationId', 'runId', 'direction', 'recordKey'], { indexName: 'sync_record_errors_by_key' })
		table.index(['organizationId', 'runId', 'id'], 'sync_record_errors_by_run')
	})
	await knex.raw(
		`create index sync_record_errors_open on sync_record_errors ("organizationId", "syncId", direction, "recordKey") where "resolvedAt" is null`,
	)
}
