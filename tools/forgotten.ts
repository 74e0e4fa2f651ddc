// What stands in spec/ and does not reach the contract. The compiler ignores it without a word.
import { basename } from 'node:path'
import type { Program } from '@typespec/compiler'

/** A line for each file that main.tsp does not import, and each interface of operations that has no route there. */
export function findForgotten(program: Program, files: readonly string[]): string[] {
	const imported = new Set([...program.sourceFiles.keys()].map((path) => basename(path)))
	const { namespaces } = program.getGlobalNamespaceType()
	const routed = new Set(
		[...(namespaces.get('Remit')?.interfaces.values() ?? [])].flatMap(({ sourceInterfaces }) =>
			sourceInterfaces.map(({ name }) => name),
		),
	)
	const interfaces = [...(namespaces.get('Operations')?.interfaces.keys() ?? [])]
	return [
		...files.filter((file) => !imported.has(basename(file))).map((file) => `spec/${file}: main.tsp does not import it`),
		...interfaces
			.filter((name) => !routed.has(name))
			.map((name) => `Operations.${name}: main.tsp gives it no route (an interface that extends it)`),
	]
}
