// What the emitter cannot say of events: the OpenAPI `webhooks` object, and an example of each that is made of its data's.
import type { Json, JsonObject, OpenApiDocument } from './openapi.ts'

/** The members of the union `WebhookEvent`, by event type. */
export function eventSchemas({ components: { schemas } }: OpenApiDocument): Map<string, { name: string; schema: JsonObject }> {
	const members = (schemas.WebhookEvent?.anyOf ?? []) as { $ref: string }[]
	return new Map(
		members.map(({ $ref }) => {
			const name = $ref.replace('#/components/schemas/', '')
			const schema = schemas[name] as JsonObject
			return [String(propertiesOf(schema).type?.enum?.[0 as never]), { name, schema }]
		}),
	)
}

/** The kind of record that an event is about. */
export const kindOfEvent = (schema: JsonObject) =>
	(propertiesOf(propertiesOf(schema).resource as JsonObject).type as { enum: [string] }).enum[0]

const propertiesOf = (schema: JsonObject) => schema.properties as Record<string, JsonObject>

export function describeEvents(document: OpenApiDocument): void {
	const events = [...eventSchemas(document)]
	if (events.length === 0) return
	for (const [type, { schema }] of events) schema.examples = [exampleOf(document, type, schema)]
	;(document.components.schemas.WebhookEvent as JsonObject).examples = events[0]?.[1].schema.examples as Json
	document.webhooks = Object.fromEntries(
		events.map(([type, { name, schema }]) => {
			const content = { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } }
			const responses = { '2XX': { description: 'Received. Remit counts any other answer as a failure and tries again.' } }
			const operation = { summary: type, description: schema.description as string, requestBody: { required: true, content } }
			return [type, { post: { operationId: `webhook.${type}`, tags: ['Webhooks'], ...operation, responses } }]
		}),
	)
}

/** Fields of an event's record that differ from the record's own example. */
const moments: Record<string, JsonObject> = {
	'invoice.sent': { status: 'sent' },
	'invoice.viewed': { status: 'sent', viewCount: 1, viewedAt: 1774915200000 },
	'invoice.paid': { status: 'paid', paidDate: 1774915200000, amountPaidCents: 160650, amountDueCents: 0 },
	'invoice.overdue': { status: 'overdue', isOverdue: true },
	'invoice.cancelled': { status: 'cancelled', amountDueCents: 0 },
	'company.deleted': { deletedAt: 1774915200000 },
	'webhook.endpoint.failing': { failingSince: 1774828800000 },
	'webhook.endpoint.disabled': { status: 'disabled', disabledReason: 'failing', failingSince: 1774483200000 },
}

function exampleOf({ components: { schemas } }: OpenApiDocument, type: string, schema: JsonObject): Json {
	const { data } = propertiesOf(schema)
	const record = schemas[String(data?.$ref).replace('#/components/schemas/', '')] as { examples: [JsonObject] }
	const [example] = record.examples
	const { examples: actors } = schemas.EventActor as { examples: Json[] }
	return {
		id: 'evt_0mnfcf9s0aKq2LwXc4Rk6Nd',
		type,
		timestamp: '2026-03-31T00:00:00.000Z',
		organizationId: example.organizationId as Json,
		resource: { type: kindOfEvent(schema), id: example.id as Json },
		sequence: 1,
		actor: actors[0] as Json,
		data: { ...example, ...moments[type] },
	}
}
