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
	const mapping = Object.fromEntries(events.map(([type, { name }]) => [type, `#/components/schemas/${name}`]))
	const discriminator = { propertyName: 'type', mapping }
	Object.assign(document.components.schemas.WebhookEvent as JsonObject, {
		discriminator,
		examples: events[0]?.[1].schema.examples,
	})
	document.components.parameters = { ...document.components.parameters, ...headers }
	document.components.securitySchemes = { ...document.components.securitySchemes, WebhookSignature: signature }
	document.components.responses = { ...document.components.responses, EventReceived: received }
	document.webhooks = Object.fromEntries(events.map(([type, { name, schema }]) => [type, { post: webhook(type, name, schema) }]))
}

const header = (name: string, description: string, schema: JsonObject, required = true) =>
	({ name, in: 'header', required, description, schema }) as const

/** Headers of a delivery (Standard Webhooks), by the names of their components. */
const headers = {
	WebhookId: header('webhook-id', "The event's id, the same in every attempt: a receiver that has it already has the event.", {
		$ref: '#/components/schemas/Id',
	}),
	WebhookTimestamp: header(
		'webhook-timestamp',
		'When the attempt was made, in Unix seconds. Reject one that is more than five minutes from now.',
		{ type: 'string', pattern: '^[0-9]+$' },
	),
	WebhookOutOfOrder: header(
		'webhook-out-of-order',
		'`true` where an earlier event of the record did not arrive: this one does not wait for it. Else absent.',
		{ type: 'string', enum: ['true'] },
		false,
	),
}

const signature = {
	type: 'apiKey',
	in: 'header',
	name: 'webhook-signature',
	description:
		'`v1,` and the base64 of HMAC-SHA256 over `webhook-id`, `webhook-timestamp` and the bytes of the body, joined by dots (Standard ' +
		'Webhooks). The key is the base64 behind `whsec_` in the secret of the endpoint. While a secret is being rotated there are two ' +
		'signatures, with a blank between them; one that is right is enough.',
}

const received = { description: 'Received. Remit counts any other answer as a failure and tries again.' }

const webhook = (type: string, name: string, { description }: JsonObject) => ({
	operationId: `webhook.${type}`,
	tags: ['Webhooks'],
	summary: type,
	description: description as string,
	security: [{ WebhookSignature: [] }],
	parameters: Object.keys(headers).map((component) => ({ $ref: `#/components/parameters/${component}` })),
	requestBody: { required: true, content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } } },
	responses: { '2XX': { $ref: '#/components/responses/EventReceived' } },
})

type Schemas = OpenApiDocument['components']['schemas']

/** Fields of an event's record, or of what its data has besides, that differ from the example of that. */
const moments: Record<string, JsonObject> = {
	'invoice.updated': { notes: 'Thank you for your order.' },
	'payment.updated': { reference: '2026-04-17 ACME, part 1' },
	'company.updated': { phone: '+49 30 901820' },
	'contact.updated': { phone: '+49 30 901820' },
	'deal.updated': { stage: 'won' },
	'deal.stage_changed': { stage: 'won' },
	'tax_rate.updated': { isDefault: false },
	'time_entry.updated': { description: 'Address form and its checks' },
	'connection.updated': { name: 'HubSpot' },
	'mapping.updated': { name: 'Companies of HubSpot' },
	'sync.updated': { schedule: { type: 'interval', minutes: 60 } },
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
	const name = nameIn(propertiesOf(schema).data)
	const moment = moments[type]
	const changes = /updated$|stage_changed$/.test(type) ? changesOf(exampleOfData(schemas, name), moment) : undefined
	const example = exampleOfData(schemas, name, changes ? { ...moment, version: 2 } : moment)
	const { examples: actors } = schemas.EventActor as { examples: Json[] }
	return {
		id: 'evt_0mnfcf9s0aKq2LwXc4Rk6Nd',
		type,
		timestamp: '2026-03-31T00:00:00.000Z',
		organizationId: example.organizationId as Json,
		resource: { type: kindOfEvent(schema), id: example.id as Json },
		sequence: changes ? 2 : 1,
		actor: actors[0] as Json,
		...(changes && { changes }),
		data: example,
	}
}

const changesOf = (before: JsonObject, moment: JsonObject = {}): JsonObject =>
	Object.fromEntries(Object.entries(moment).map(([field, to]) => [field, { from: before[field] as Json, to }]))

/** The name of the schema that a reference names. */
export const nameIn = (reference: JsonObject | undefined) => String(reference?.$ref).replace('#/components/schemas/', '')

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
