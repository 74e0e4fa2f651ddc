// `remit mappings`: lists and creates mappings, and shows what one would make of records.
import type { Mapping, MappingCreate, PreviewedRecord } from '@remit/sdk'
import type { Command } from 'commander'
import { print, UsageError } from '../command.ts'
import { type RemoteOptions, remoteCommand, withServer } from './remote.ts'
import { columns, plain, readInput } from './text.ts'

/** As many as one request takes. */
const atOnce = 25

export function addMappingCommands(program: Command): void {
	const mappings = program.command('mappings').description('How records of one system become records of another.')

	remoteCommand(mappings, 'list', 'List mappings.', 'read').action((options: RemoteOptions) =>
		withServer(options, async (remit) => {
			const found: Mapping[] = []
			for await (const mapping of remit.mappings.list({ limit: 100 })) found.push(mapping)
			const sideOf = ({ system, object }: Mapping['source']) => `${system} ${object}`
			const rows = found.map(({ id, status, source, target, name }) => [
				id,
				status,
				`${sideOf(source)} → ${sideOf(target)}`,
				name,
			])
			print(options, found, columns(rows).join('\n') || 'None.')
		}),
	)

	remoteCommand(mappings, 'create', 'Create a mapping of the JSON on standard input.', 'write')
		.addHelpText('after', '\nThe JSON is the body of POST /mappings: docs/guides/sync.md has one.')
		.action((options: RemoteOptions) =>
			withServer(options, async (remit) => {
				const input = jsonIn(await readInput(), 'A mapping is needed on standard input: remit mappings create < mapping.json')
				const { id } = await remit.mappings.create(input as MappingCreate)
				print(options, { id }, id)
			}),
		)

	remoteCommand(mappings, 'preview', 'Show what a mapping makes of records from standard input. It writes nothing.', 'write')
		.argument('<id>', 'the mapping, map_…')
		.addHelpText('after', '\nThe records are JSON: a list, or an object with a list in it, as the source system answers it.')
		.action((id: string, options: RemoteOptions) =>
			withServer(options, async (remit) => {
				const records = recordsIn(await readInput())
				const previewed: PreviewedRecord[] = []
				for (let from = 0; from < records.length; from += atOnce)
					previewed.push(...(await remit.mappings.preview(id, { records: records.slice(from, from + atOnce) })).records)
				print(options, previewed, columns(previewed.map(rowOf)).join('\n'))
			}),
		)
}

function jsonIn(text: string, needed: string): unknown {
	if (text.trim() === '') throw new UsageError(needed)
	try {
		return JSON.parse(text)
	} catch (error) {
		throw new UsageError(`Standard input is no JSON: ${plain((error as Error).message)}`)
	}
}

type Record = { [name: string]: unknown }

function recordsIn(text: string): Record[] {
	const said = jsonIn(text, 'Records are needed on standard input: remit mappings preview map_… < records.json')
	const isRecord = (one: unknown): one is Record => typeof one === 'object' && one !== null && !Array.isArray(one)
	const list = isRecord(said) ? (Object.values(said).find(Array.isArray) ?? [said]) : said
	if (Array.isArray(list) && list.length > 0 && list.every(isRecord)) return list
	throw new UsageError('Standard input has no list of records.')
}

function rowOf({ action, recordId, output, errors, changes }: PreviewedRecord): string[] {
	const isChange = action === 'update' || action === 'unchanged'
	const what = isChange
		? Object.entries(changes).map(([name, { from, to }]) => `${name}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`)
		: Object.entries(output ?? {}).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
	const wrong = errors.map(({ field, reason }) => `✗ ${field ? `${field}: ` : ''}${reason}`)
	return [action ?? 'write', recordId ?? '-', [...wrong, ...what].join(', ')]
}
