import { expect, it } from 'vitest'
import { contractDocument } from '../../platform/contract/document.ts'
import { requestOf } from './sent-request.ts'
import { newSecret, signingKey } from './signature.ts'

const { components, webhooks } = contractDocument()

it('has the headers by which the contract describes a delivery of each event, and no other', () => {
	const { attempt } = requestOf({
		url: 'https://receiver.example/',
		own: {},
		keys: [signingKey(newSecret())],
		eventId: 'evt_1',
		startedAt: Date.now(),
		outOfOrder: true,
		trace: {},
		body: Buffer.from('{}'),
	})
	const sent = Object.keys(attempt.headers ?? {}).sort()
	for (const [type, { post }] of Object.entries(webhooks)) {
		const [signature] = post.security.flatMap((alternative) => Object.keys(alternative)) as ['WebhookSignature']
		const named = post.parameters.map(({ $ref }) => $ref.split('/').at(-1) as keyof typeof components.parameters)
		const described = [components.securitySchemes[signature].name, ...named.map((name) => components.parameters[name].name)]
		expect(described.sort(), type).toEqual(sent)
	}
})
