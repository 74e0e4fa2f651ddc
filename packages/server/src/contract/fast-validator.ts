// A compiled validator for each operation, in front of express-openapi-validator, which looks for the route anew on every
// request and so costs more the larger the contract is (50 µs with 50 operations; this costs 1 to 3 with any number).
//
// It may only validate: what it refuses goes to the full validator, which writes the answer. Both are built from the same
// document with the same rules; in tests and development both judge every request, and what this one accepts the other must.
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { absolute, newAjv } from './ajv.ts'
import { type ContractOperation, type ContractParameter, contractOperations, type JsonSchema, schemas } from './document.ts'
import type { Operation } from './routes.ts'

export interface Input {
	params: Record<string, unknown>
	query: Record<string, unknown>
	headers: Record<string, unknown>
	body: unknown
}

/**
 * Fills in defaults, turns the query's numbers into numbers, and returns nothing when the input is valid; else the first
 * violation, of the form in which the full validator reports its own.
 */
export type FastValidator = (input: Input) => Violation | undefined

export interface Violation {
	readonly path: string
	readonly message: string
	readonly errorCode?: string
}

const anything: FastValidator = () => undefined

export function compileFastValidators(operations: readonly Operation[]): ReadonlyMap<string, FastValidator> {
	// Parameters are text and are coerced, a body is not.
	const forParameters = newAjv(schemas, { useDefaults: true, coerceTypes: true })
	const forBodies = newAjv(schemas, { useDefaults: true })
	return new Map(
		operations.map((operation) => {
			const contract = contractOperations.get(operation.id)
			if (!contract) throw new Error(`operation ${operation.id} is not in the contract: run pnpm generate`)
			// When it is first asked for: all of them at the start would be half of the start's time.
			let compiled: FastValidator | undefined
			const validate: FastValidator = (input) => {
				compiled ??= compile(contract, forParameters, forBodies)
				return compiled(input)
			}
			return [operation.id, validate]
		}),
	)
}

function compile({ parameters, requestBody }: ContractOperation, forParameters: Ajv2020, forBodies: Ajv2020): FastValidator {
	const inPlace = (from: ContractParameter['in']) => parameters.filter((parameter) => parameter.in === from)
	const params = validatorOf('params', forParameters, objectOf(inPlace('path')))
	const headers = inPlace('header').length === 0 ? anything : validatorOf('headers', forParameters, objectOf(inPlace('header')))
	const query = queryValidator(forParameters, inPlace('query'))
	const schema = requestBody?.content['application/json']?.schema
	const body = schema ? validatorOf('body', forBodies, absolute(schema)) : anything
	return (input) => params(input) ?? query(input) ?? headers(input) ?? body(input)
}

/** Coercion takes `0x10` and `1e1` for integers, and ` 5`; we take digits. */
const integer = /^-?\d+$/

function queryValidator(ajv: Ajv2020, parameters: readonly ContractParameter[]): FastValidator {
	const valid = validatorOf('query', ajv, { ...objectOf(parameters), additionalProperties: false })
	const integers = parameters.filter(({ schema }) => schema.type === 'integer').map(({ name }) => name)
	return (input) => {
		const odd = integers.find((name) => typeof input.query[name] === 'string' && !integer.test(input.query[name]))
		return odd ? { path: `/query/${odd}`, message: 'must be integer', errorCode: 'type' } : valid(input)
	}
}

function validatorOf(place: keyof Input, ajv: Ajv2020, schema: JsonSchema): FastValidator {
	const valid: ValidateFunction = ajv.compile(schema)
	return (input) => (valid(input[place]) ? undefined : violation(place, valid.errors?.[0]))
}

function violation(place: keyof Input, error: ErrorObject | undefined): Violation {
	const { keyword, message = 'is invalid', instancePath = '', params = {} } = error ?? {}
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
