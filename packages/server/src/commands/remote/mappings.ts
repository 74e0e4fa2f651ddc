// `remit mappings preview`: what a mapping would make of records.
import type { PreviewedRecord } from '@remit/sdk'
import type { Command } from 'commander'
import { print, UsageError } from '../command.ts'
import { type RemoteOptions, remoteCommand, withServer } from './remote.ts'
import { columns, plain, readInput } from './text.ts'

/** As many as one request takes. */
const atOnce = 25

export function addMappingCommands(program: Command): void {
	const mappings = program.command('mappings').description('How records of one system become records of another.')

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

type Record = { [name: string]: unknown }

function recordsIn(text: string): Record[] {
	if (text.trim() === '')
		throw new UsageError('Records are needed on standard input: remit mappings preview map_… < records.json')
	let said: unknown
	try {
		said = JSON.parse(text)
	} catch (error) {
		throw new UsageError(`Standard input is no JSON: ${plain((error as Error).message)}`)
	}
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
