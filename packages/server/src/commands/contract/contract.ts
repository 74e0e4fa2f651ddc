// `remit contract`: whether a server keeps its contract, and whether a newer contract breaks callers.
import type { Command } from 'commander'

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
}
