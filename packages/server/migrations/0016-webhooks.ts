import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
	const sqlite = knex.client.config.client === 'better-sqlite3'
	const bytewise = sqlite ? 'text' : 'text collate "C"'
	await knex.schema.createTable('webhook_endpoints', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.specificType('id', bytewise).notNullable()
		table.text('url').notNullable()
		table.text('description')
		table.json('eventTypes').notNullable()
		table.text('status').notNullable()
		table.text('disabledReason')
		table.bigInteger('failingSince')
		// When the engine last warned the owner of a failing endpoint.
		table.bigInteger('warnedAt')
		table.text('secretHint').notNullable()
		// Sealed: useless without the server's encryption key.
		table.text('secret').notNullable()
		table.text('previousSecret')
		table.bigInteger('previousSecretExpiresAt')
		table.bigInteger('createdAt').notNullable()
		table.bigInteger('updatedAt').notNullable()
		table.bigInteger('deletedAt')
		table.integer('version').notNullable()
		table.primary(['organizationId', 'id'])
		table.index(['organizationId', 'createdAt', 'id'], 'webhook_endpoints_by_creation')
		table.index(['organizationId', 'status', 'createdAt', 'id'], 'webhook_endpoints_by_status')
	})
	await knex.schema.createTable('webhook_deliveries', (table) => {
		table.text('organizationId').notNullable()
		// Made of the ids of event and endpoint: a pair has one delivery at most, and deliveries sort by time.
		table.specificType('id', bytewise).notNullable()
		table.specificType('endpointId', bytewise).notNullable()
		table.text('eventId').notNullable()
		table.text('eventType').notNullable()
		table.specificType('resourceId', bytewise).notNullable()
		table.integer('sequence').notNullable()
		table.text('status').notNullable()
		table.integer('attemptCount').notNullable()
		// Attempts in the current retry schedule, which begins again when a caller asks for the delivery again.
		table.integer('retryCount').notNullable()
		// When the next attempt is due; while `delivering`, when the lease ends. Null when the delivery is done, or waits for the
		// delivery of the record's previous event.
		table.bigInteger('nextAttemptAt')
		table.integer('lastResponseStatus')
		table.text('lastError')
		table.bigInteger('createdAt').notNullable()
		table.bigInteger('updatedAt').notNullable()
		table.primary(['organizationId', 'id'])
		table.foreign(['organizationId', 'endpointId']).references(['organizationId', 'id']).inTable('webhook_endpoints')
		table.index(['organizationId', 'endpointId', 'id'], 'webhook_deliveries_by_endpoint')
		table.index(['organizationId', 'status', 'id'], 'webhook_deliveries_by_status')
	})
	await knex.raw(
		`create index webhook_deliveries_due on webhook_deliveries ("organizationId", "endpointId", "nextAttemptAt", id)
		where "nextAttemptAt" is not null`,
	)
	await knex.raw(
		`create index webhook_deliveries_behind on webhook_deliveries ("organizationId", "endpointId", id)
		where status = 'pending' and "nextAttemptAt" is null`,
	)
	await knex.schema.createTable('webhook_attempts', (table) => {
		table.text('organizationId').notNullable()
		table.specificType('deliveryId', bytewise).notNullable()
		table.integer('number').notNullable()
		table.bigInteger('startedAt').notNullable()
		table.integer('durationMs').notNullable()
		table.integer('responseStatus')
		table.text('responseBody')
		table.text('error')
		table.primary(['organizationId', 'deliveryId', 'number'])
	})
	if (sqlite) {
		await knex.schema.alterTable('events', (table) => {
			table.index(['organizationId', 'type', 'position'], 'events_by_type')
		})
		return
	}
	// PostgreSQL assigns a position before the transaction commits, so a lower one may appear after a reader has read a higher
	// one. An event therefore gets its place in the feed from a reader, once it is committed.
	await knex.raw('create sequence event_places')
	await knex.schema.alterTable('events', (table) => {
		table.bigInteger('place')
		table.index(['organizationId', 'place'], 'events_by_place')
		table.index(['organizationId', 'type', 'place'], 'events_by_type')
	})
	await knex.raw('create index events_unplaced on events ("organizationId", position) where place is null')
	await knex.raw('alter table events alter column id type text collate "C"')
}
