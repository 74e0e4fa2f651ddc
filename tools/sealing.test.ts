import { expect, it } from 'vitest'
import type { JsonObject, OpenApiDocument, Operation } from './openapi.ts'
import { openAnswers } from './sealing.ts'

const object = (properties: JsonObject) => ({ type: 'object', properties, additionalProperties: false })
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (name: string) => ({ 'application/json': { schema: ref(name) } })

const operation: Operation = {
	operationId: 'deals.create',
	summary: '',
	description: '',
	tags: [],
	requestBody: { content: json('DealCreate') },
	responses: { 200: { description: '', content: json('Deal') } },
}
const document: OpenApiDocument = {
	openapi: '3.1.0',
	info: { title: '', version: '' },
	paths: { '/deals': { post: operation } },
	webhooks: { 'deal.won': { post: { requestBody: { content: json('DealWon') } } } },
	components: {
		schemas: {
			DealCreate: object({ stages: { type: 'array', items: ref('Stage') }, color: ref('Color') }),
			Deal: {
				...object({ stages: { type: 'array', items: ref('Stage') }, data: ref('Data') }),
				examples: [{ additionalProperties: false }],
			},
			Stage: object({ name: { type: 'string' } }),
			Color: { enum: ['red'] },
			DealWon: object({ deal: ref('Deal'), color: ref('Color') }),
			Data: { type: 'object', additionalProperties: {} },
			DealSort: { enum: ['name'] },
		},
	},
}

it('opens what answers and webhooks have, and leaves requests sealed', () => {
	const { schemas } = openAnswers(document).components
	expect(schemas.DealCreate).toHaveProperty('additionalProperties', false)
	for (const name of ['Deal', 'DealWon']) expect(schemas[name]).not.toHaveProperty('additionalProperties')
	expect(schemas.Deal?.examples).toEqual([{ additionalProperties: false }])
	expect(schemas.Data).toEqual({ type: 'object', additionalProperties: {} })
})

it('gives requests a sealed copy of what answers have too', () => {
	const { paths, components } = openAnswers(document)
	expect(components.schemas.Stage).not.toHaveProperty('additionalProperties')
	expect(components.schemas.StageInput).toEqual(document.components.schemas.Stage)
	expect(components.schemas.Deal?.properties).toHaveProperty('stages.items', ref('Stage'))
	expect(components.schemas.DealCreate?.properties).toHaveProperty('stages.items', ref('StageInput'))
	expect(components.schemas).not.toHaveProperty('ColorInput')
	expect(paths['/deals']?.post?.requestBody?.content).toEqual(json('DealCreate'))
})

it('leaves out what nothing refers to: linters of the document warn of it', () => {
	expect(openAnswers(document).components.schemas).not.toHaveProperty('DealSort')
})
