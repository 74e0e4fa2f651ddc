// A compiled validator for each operation, in front of express-openapi-validator, which searches for the route again on every
// request and so costs more the larger the contract is (50 µs with 50 operations; this costs 1 to 3 with any number).
//
// It only decides whether a request is valid: for the answer to one that it rejects, violations.ts lists all violations. In tests
// and development the full validator, built from the same document with the same rules, validates every request that this one
// passes, and it is a server error when it rejects one.
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { absolute, newAjv } from './ajv.ts'
import {
	type ContractOperation,
	type ContractParameter,
	contractOperations,
	type JsonSchema,
	resolved,
	schemas,
} from './document.ts'
import type { Operation } from './routes.ts'

export interface Input {
	params: Record<string, unknown>
	query: Record<string, unknown>
	headers: Record<string, unknown>
	body: unknown
}

/**
 * Fills in defaults and turns the text of parameters into numbers. Returns undefined when the input is valid, else the first
 * violation, in the form of the full validator's.
 */
export type FastValidator = (input: Input) => Violation | undefined

export interface Violation {
	readonly path: string
	readonly message: string
	readonly errorCode?: string
}

const anything: FastValidator = () => undefined

// Ajv coerces parameters, which arrive as text, but not bodies.
const forParameters = newAjv(schemas, { useDefaults: true, coerceTypes: true })
const forBodies = newAjv(schemas, { useDefaults: true })

const ofSchemas = new WeakMap<JsonSchema, FastValidator>()

/** The first violation in a part of a body; its schema must be an object of the document. */
export function violationIn(schema: JsonSchema, value: unknown): Violation | undefined {
	let validate = ofSchemas.get(schema)
	if (!validate) {
		validate = validatorOf('body', forBodies, absolute(schema))
		ofSchemas.set(schema, validate)
	}
	return validate({ params: {}, query: {}, headers: {}, body: value })
}

let forListing: Ajv2020 | undefined
const listings = new WeakMap<JsonSchema, ValidateFunction>()

/** All violations in a part of a body, as the answer to a request with it lists them; its schema must be an object of the document. */
export function violationsIn(schema: JsonSchema, value: unknown): Violation[] {
	let validate = listings.get(schema)
	if (!validate) {
		forListing ??= newAjv(schemas, { useDefaults: true, allErrors: true })
		validate = forListing.compile(absolute(schema))
		listings.set(schema, validate)
	}
	return validate(value) ? [] : (validate.errors ?? []).map((error) => violation('body', error))
}

/** Whether a part of a body fits its schema, which must be an object of the document. */
export const isValid = (schema: JsonSchema, value: unknown): boolean => violationIn(schema, value) === undefined

export function compileFastValidators(operations: readonly Operation[]): ReadonlyMap<string, FastValidator> {
	return new Map(
		operations.map((operation) => {
			const contract = contractOperations.get(operation.id)
			if (!contract) throw new Error(`operation ${operation.id} is not in the contract: run pnpm generate`)
			// Compiled at its first use: compiling all validators would take half of the server's start.
			let compiled: FastValidator | undefined
			const validate: FastValidator = (input) => {
				compiled ??= compiledOnce(contract)
				return compiled(input)
			}
			return [operation.id, validate]
		}),
	)
}

const ofOperations = new WeakMap<ContractOperation, FastValidator>()

/** Once in a process, however many servers it starts: Ajv keeps whatever it compiles. */
function compiledOnce(contract: ContractOperation): FastValidator {
	const validate = ofOperations.get(contract) ?? compile(contract)
	ofOperations.set(contract, validate)
	return validate
}

function compile({ parameters, requestBody }: ContractOperation): FastValidator {
	const inPlace = (from: ContractParameter['in']) => parameters.filter((parameter) => parameter.in === from)
	const params = validatorOf('params', forParameters, objectOf(inPlace('path')))
	const headers = inPlace('header').length === 0 ? anything : validatorOf('headers', forParameters, objectOf(inPlace('header')))
	const query = queryValidator(inPlace('query'))
	const schema = requestBody?.content['application/json']?.schema
	const body = schema ? validatorOf('body', forBodies, absolute(schema)) : anything
	return (input) => params(input) ?? query(input) ?? headers(input) ?? body(input)
}

/** Ajv coerces `0x10`, `1e1` and ` 5` to integers; the contract means digits. */
const integer = /^-?\d+$/

function queryValidator(parameters: readonly ContractParameter[]): FastValidator {
	const valid = validatorOf('query', forParameters, { ...objectOf(parameters), additionalProperties: false })
	const integers = parameters.filter(({ schema }) => resolved(schema).type === 'integer').map(({ name }) => name)
	const numbersOrText = parameters.filter(({ schema }) => resolved(schema).anyOf).map(({ name }) => name)
	const lists = parameters.filter(({ schema }) => resolved(schema).type === 'array').map(({ name }) => name)
	return (input) => {
		for (const name of lists) {
			const value = input.query[name]
			if (typeof value === 'string') input.query[name] = value.split(',')
		}
		const isText = (name: string) => typeof input.query[name] === 'string' && !integer.test(input.query[name])
		const malformed =
			integers.find(isText) ??
			numbersOrText.find((name) => isText(name) && input.query[name] !== '' && !Number.isNaN(Number(input.query[name])))
		if (malformed) return { path: `/query/${malformed}`, message: 'must be integer', errorCode: 'type' }
		const violation = valid(input)
		// Ajv tries every member of an anyOf, and may leave the number as text again.
		for (const name of numbersOrText) if (input.query[name] && !isText(name)) input.query[name] = Number(input.query[name])
		return violation
	}
}

function validatorOf(place: keyof Input, ajv: Ajv2020, schema: JsonSchema): FastValidator {
	const valid: ValidateFunction = ajv.compile(schema)
	return (input) => (valid(input[place]) ? undefined : violation(place, valid.errors?.[0]))
}

function violation(place: keyof Input, error: ErrorObject | undefined): Violation {
	const { keyword, message: said = 'is invalid', instancePath = '', params = {} } = error ?? {}
	const message = keyword === 'enum' ? `${said}: ${params.allowedValues.join(', ')}` : said
	const name: string | undefined = params.missingProperty ?? params.additionalProperty
	const path = `/${place}${instancePath}${name === undefined ? '' : `/${name}`}`
	return { path, message, errorCode: `${keyword}.openapi.validation` }
}

function objectOf(parameters: readonly ContractParameter[]): JsonSchema {
	const nameOf = ({ in: from, name }: ContractParameter) => (from === 'header' ? name.toLowerCase() : name)
	return {
		type: 'object',
		properties: Object.fromEntries(parameters.map((parameter) => [nameOf(parameter), absolute(parameter.schema)])),
		required: parameters.filter((parameter) => parameter.required).map(nameOf),
	}
}
