// `remit api`: each operation of the contract as a command, made from the contract: `invoices.clientLink.create` is
// `remit api invoices client-link create <id>`.
import { type Command, Option } from 'commander'
import {
	type ContractOperation,
	contractOperations,
	type JsonSchema,
	membersOf,
	resolved,
} from '../../../platform/contract/document.ts'
import { type Operation, operations } from '../../../platform/contract/routes.ts'
import type { CallOptions, Field, Part } from './call.ts'
import { serverOptions } from './remote.ts'

/** The operations are added only when they are wanted: two hundred commands take a while to make. */
export function addApiCommands(program: Command, areWanted: boolean): void {
	const api = program.command('api').description('Each operation of the API: remit api invoices list --status sent.')
	if (!areWanted) return
	for (const operation of operations) {
		const contract = contractOperations.get(operation.id)
		if (contract && !operation.sessionOnly && !operation.aliasOf) addOperation(api, operation, contract)
	}
}

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** The command with this name below another, which is made when it is new. */
function child(parent: Command, name: string): Command {
	return parent.commands.find((known) => known.name() === name) ?? parent.command(name).description(`Operations of ${name}.`)
}

function addOperation(api: Command, operation: Operation, contract: ContractOperation): void {
	const names = operation.id.split('.').map(kebab)
	const parent = names.slice(0, -1).reduce(child, api)
	const [summary = ''] = contract.description.split(/(?<=\.)\s/)
	const command = serverOptions(parent.command(names.at(-1) ?? '').description(summary), operation.scopes.join(', '))
	for (const { name } of contract.parameters.filter(({ in: place }) => place === 'path')) command.argument(`<${name}>`)
	command.option('--json', 'print it on one line')
	if (operation.body !== 'none')
		command.option('--data <json>', 'the body as JSON, to which fields are added; @file reads a file, - standard input')
	if (contract.parameters.some(({ name }) => name === 'cursor')) command.option('--all', 'each record of all pages, a line each')
	if (fileOf(contract)) command.requiredOption('--output <file>', 'where to write the file; - for standard output')
	const fields = fieldsOf(contract).flatMap((field) => addField(command, field))
	command.action(async (...given: unknown[]) => {
		// Loaded only here: other commands need no SDK.
		const { call } = await import('./call.ts')
		const ids = given.slice(0, command.registeredArguments.length) as string[]
		return call({ operation, file: fileOf(contract), fields }, ids, command.opts<CallOptions>())
	})
}

/** The media type of an answer that is a file. */
const fileOf = ({ responses }: ContractOperation): string | undefined =>
	Object.keys(responses[200]?.content ?? {}).find((type) => type !== 'application/json')

/** What is said of a request beside its path: query, headers, and the fields of the body. */
function fieldsOf({ parameters, requestBody }: ContractOperation): Part[] {
	const body = requestBody?.content['application/json']?.schema ?? {}
	const properties = (resolved(body).properties ?? {}) as Record<string, JsonSchema>
	return [
		...parameters.flatMap((parameter) => (parameter.in === 'path' ? [] : [{ ...parameter, in: parameter.in }])),
		...Object.entries(properties).map(([name, schema]) => ({ name, in: 'body' as const, schema })),
	]
}

/** Gives a field an option, unless it is an object, which stands in `--data`. */
function addField(command: Command, field: Part): Field[] {
	const members = membersOf(field.schema)
	if (members.some(({ type }) => type === 'object')) return []
	const name = field.in === 'header' ? field.name.toLowerCase() : kebab(field.name)
	// Such as the `url` of an endpoint, beside that of the server.
	const isTaken = command.options.some(({ long }) => long === `--${name}`)
	const words = members.flatMap((member) => member.enum ?? (member.items ? resolved(member.items as JsonSchema).enum : []) ?? [])
	const description = String(field.description ?? resolved(field.schema).description ?? '').split(/(?<=\.)\s/)[0] ?? ''
	const option = new Option(`--${isTaken ? 'body-' : ''}${name} <value>`, description)
	// Without `choices()`, which would reject a list of them, and values that a newer server knows.
	if (words.length > 0) option.argChoices = words.map(String)
	command.addOption(option)
	return [{ ...field, attribute: option.attributeName() }]
}
