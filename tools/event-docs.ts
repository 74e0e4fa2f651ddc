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
	const { EventType } = document.components.schemas
	const sentences = events.map(([type, { schema }]) => [type, schema.description])
	if (EventType) EventType['x-enumDescriptions'] = Object.fromEntries(sentences)
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

type Schemas = OpenApiDocument['components']['schemas']

/** Fields of an event's record, or of what its data has besides, that differ from the example of that. */
const moments: Record<string, JsonObject> = {
	'invoice.sent': { status: 'sent' },
	'invoice.send_failed': {
		status: 'failed',
		reason: 'The mail server answered "550 no such user".',
		recipients: [{ address: 'billing@acme.example', accepted: false, answer: '550 no such user' }],
		cc: [],
	},
	'invoice.perhaps_sent': { status: 'uncertain', reason: 'The mail server dropped the connection.', recipients: [] },
	'invoice.viewed': { status: 'sent', viewCount: 1, viewedAt: 1774915200000 },
	'invoice.partially_paid': {
		status: 'sent',
		amountPaidCents: 50000,
		amountDueCents: 110650,
		paymentState: 'partially_paid',
	},
	'invoice.paid': { status: 'paid', paidDate: 1774915200000, amountPaidCents: 160650, amountDueCents: 0, paymentState: 'paid' },
	'invoice.overdue': { status: 'overdue', isOverdue: true },
	'invoice.cancelled': { status: 'cancelled', amountDueCents: 0 },
	'payment.unapplied': { allocations: [], allocatedCents: 0, availableCents: 50000, unappliedReason: 'invoice_cancelled' },
	'payment.reversed': { status: 'reversed', allocations: [], allocatedCents: 0, reversedAt: 1774915200000 },
	'company.deleted': { deletedAt: 1774915200000 },
	'contact.deleted': { deletedAt: 1774915200000 },
	'deal.deleted': { deletedAt: 1774915200000 },
	'tax_rate.deleted': { active: false, isDefault: false },
	'webhook.endpoint.failing': { failingSince: 1774828800000 },
	'webhook.endpoint.disabled': { status: 'disabled', disabledReason: 'failing', failingSince: 1774483200000 },
}

function exampleOf({ components: { schemas } }: OpenApiDocument, type: string, schema: JsonObject): Json {
	const example = exampleOfData(schemas, nameIn(propertiesOf(schema).data), moments[type])
	const { examples: actors } = schemas.EventActor as { examples: Json[] }
	return {
		id: 'evt_0mnfcf9s0aKq2LwXc4Rk6Nd',
		type,
		timestamp: '2026-03-31T00:00:00.000Z',
		organizationId: example.organizationId as Json,
		resource: { type: kindOfEvent(schema), id: example.id as Json },
		sequence: 1,
		actor: actors[0] as Json,
		data: example,
	}
}

const nameIn = (reference: JsonObject | undefined) => String(reference?.$ref).replace('#/components/schemas/', '')

/** `InvoiceWithEmail` has the example of an invoice, and one of an e-mail. */
function exampleOfData(schemas: Schemas, name: string, moment: JsonObject = {}): JsonObject {
	const [record = '', other] = name.split('With')
	const [example] = (schemas[record] as { examples: [JsonObject] }).examples
	if (other === undefined) return { ...example, ...moment }
	const field = `${other.charAt(0).toLowerCase()}${other.slice(1)}`
	const part = schemas[nameIn(propertiesOf(schemas[name] as JsonObject)[field])] as { examples: [JsonObject] }
	const made = { ...example, [field]: { ...part.examples[0], invoiceId: example.id as Json, ...moment } }
	;(schemas[name] as JsonObject).examples ??= [made]
	return made
}
