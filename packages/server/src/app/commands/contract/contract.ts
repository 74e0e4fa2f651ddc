// `remit contract`: whether a server keeps its contract, and whether a newer contract breaks callers.
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { type Command, CommanderError } from 'commander'
import { print, UsageError } from '../command.ts'
import { type RemoteOptions, remoteCommand, requireKey } from '../remote/remote.ts'

export function addContractCommands(program: Command): void {
	const contract = program.command('contract').description('The contract: an OpenAPI document.')
	// The arguments and the help are those of `@remit/contract-diff`.
	contract
		.command('diff')
		.description('What breaks callers between two OpenAPI 3.1 documents, and which version follows.')
		.usage('[options] OLD NEW')
		.argument('[args...]')
		.allowUnknownOption()
		.helpOption(false)
		.action(async (args: string[]) => {
			const { run } = await import('@remit/contract-diff')
			process.exitCode = await run(args, 'remit contract diff')
		})

	remoteCommand(contract, 'verify', 'Whether a running server keeps the contract: each operation, status and code.', 'admin')
		.option('--junit <file>', 'write the result as JUnit XML')
		.option('--only <list>', 'a comma list of operations or resources, such as companies,invoices.get; all when absent')
		.option('--shared', 'the organization has records of others: leave out what changes all of it or cannot be removed')
		.option('--test-payments', 'the payment processor is the one for tests: ask it for payment links, too')
		.addHelpText('after', help)
		.exitOverride((error) => {
			throw new CommanderError(error.exitCode && notAsked, error.code, error.message)
		})
		.action(async (options: Options) => {
			try {
				await verifyServer(options)
			} catch (error) {
				if (error instanceof UsageError) error.exitCode = notAsked
				throw error
			}
		})
}

/** The exit code when the server could not be asked; 1 says that it does not keep its contract. */
const notAsked = 2

async function verifyServer(options: Options): Promise<void> {
	const apiKey = requireKey(options)
	const only = options.only?.split(',').map((part) => part.trim())
	// Before the run, whose result would be lost.
	if (options.junit !== undefined) requireWritable(options.junit)
	// Loaded only here: compiling the contract takes a while.
	const { verify } = await import('./verify.ts')
	const { isKept, rows, text, junit } = await verify({ ...options, apiKey, only })
	print(options, { isKept, rows }, text)
	if (options.junit !== undefined) writeFileSync(options.junit, junit)
	if (!isKept) process.exitCode = 1
}

function requireWritable(file: string): void {
	try {
		closeSync(openSync(file, 'a'))
	} catch (error) {
		throw new UsageError(`--junit ${file}: cannot be written (${(error as NodeJS.ErrnoException).code})`)
	}
}

interface Options extends RemoteOptions {
	readonly junit?: string
	readonly only?: string
	readonly shared?: boolean
	readonly testPayments?: boolean
}

const help = `
It asks as a caller does, by HTTP alone, with a key that has every scope. It makes
records named "Contract verification", and keys to ask with; it changes and deletes
only records that it has made, and deletes them in the end. Payments cannot be
deleted, and the audit log, the events and the numbers of invoices stay. So give it
an organization of its own, and erase that afterwards:

  remit organizations create --name "Contract verification"
  remit keys create --organization org_… --scopes all
  REMIT_API_KEY=rmt_… remit contract verify --url https://… --junit contract.xml
  remit organizations erase org_… --yes

It sends no mail, and calls no provider: connections that it makes lead to the
server itself. It asks the payment processor only with --test-payments. The table
says of which operations it knows only how they reject. Exit code 1 when an answer
does not keep the contract, 2 when the server cannot be asked, such as with a wrong
option, address or key.
`
