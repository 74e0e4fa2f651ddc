import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
	// No foreign key to what a mail brought: the mails of a deleted invoice still count, and bounces still name them.
	await knex.schema.createTable('mails', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.text('id').notNullable()
		// What it brings, and the id of that: invoice.
		table.text('kind').notNullable()
		table.text('resourceId').notNullable()
		// A request with an Idempotency-Key; its repetitions have the same.
		table.text('requestKey')
		table.text('to').notNullable()
		table.json('cc').notNullable()
		table.json('bcc').notNullable()
		table.text('replyTo')
		table.text('subject').notNullable()
		table.text('messageId').notNullable()
		// sending | accepted | uncertain | failed
		table.text('status').notNullable()
		table.text('reason')
		table.json('recipients').notNullable()
		table.integer('recipientCount').notNullable()
		// While `sending`: when its process counts as dead.
		table.bigInteger('leaseUntil')
		table.bigInteger('createdAt').notNullable()
		table.bigInteger('updatedAt').notNullable()
		table.primary(['organizationId', 'id'])
		table.index(['organizationId', 'resourceId', 'id'], 'mails_by_resource')
	})
	// For the look at mails whose process died, which costs nothing while there is none.
	await knex.raw(`create index mails_sending on mails ("leaseUntil") where status = 'sending'`)
	// Of the server, and so without an organization: they all send from one address.
	await knex.schema.createTable('suppressed_addresses', (table) => {
		table.text('address').primary()
		// bounce | complaint
		table.text('reason').notNullable()
		table.bigInteger('suppressedAt').notNullable()
	})
}
