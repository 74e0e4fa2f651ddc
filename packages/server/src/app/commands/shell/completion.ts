// Completion for shells: each asks `remit complete` what may follow, so that it knows each operation of the contract.
import { Argument, type Command } from 'commander'
import { profileNames } from './profiles.ts'

const scripts = {
	bash: `_remit() {
	local line
	COMPREPLY=()
	while IFS= read -r line; do COMPREPLY+=("\${line%%$'\\t'*}"); done < <(remit complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _remit remit`,
	zsh: `#compdef remit
_remit() {
	local -a found
	found=(\${(f)"$(remit complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
	if (( \${#found} )); then
		found=(\${found//:/\\\\:})
		found=(\${found/$'\\t'/:})
		_describe remit found
	else
		_files
	fi
}
compdef _remit remit`,
	fish: `complete -c remit -f
complete -c remit -a '(remit complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'`,
}

export function addCompletionCommands(program: Command): void {
	program
		.command('completion')
		.description('Print the completion script of a shell.')
		.addArgument(new Argument('<shell>').choices(Object.keys(scripts)))
		.addHelpText(
			'after',
			'\nbash: source <(remit completion bash)   zsh: source <(remit completion zsh)   fish: remit completion fish | source',
		)
		.action((shell: keyof typeof scripts) => console.log(scripts[shell]))

	program
		.command('complete', { hidden: true })
		.argument('[words...]')
		.action((words: string[]) => {
			for (const [word, meaning] of candidates(program, words)) console.log(meaning ? `${word}\t${meaning}` : word)
		})
}

type Candidate = readonly [word: string, meaning?: string]

/** What may stand in place of the last word. */
function candidates(program: Command, words: readonly string[]): Candidate[] {
	const partial = words.at(-1) ?? ''
	const before = words.slice(0, -1)
	let command = program
	let asking: Command['options'][number] | undefined
	for (const word of before) {
		if (asking) asking = undefined
		else if (word.startsWith('-'))
			asking = command.options.find(({ long, short, required }) => required && (long === word || short === word))
		else command = command.commands.find((child) => child.name() === word) ?? command
	}
	const fits = ([word]: Candidate) => word.startsWith(partial)
	if (asking)
		return (asking.long === '--profile' ? profileNames() : (asking.argChoices ?? [])).map((word) => [word] as const).filter(fits)
	if (partial.startsWith('-')) {
		const own = command.options
			.filter(({ hidden }) => !hidden)
			.map(({ long, description }) => [long ?? '', firstLine(description)] as const)
		return [...own, ['--help', 'display help'] as const].filter(fits)
	}
	const help = command.createHelp()
	const children = help.visibleCommands(command).map((child) => [child.name(), firstLine(child.description())] as const)
	const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices.map((word) => [word] as const))
	return [...children, ...choices].filter(fits)
}

const firstLine = (text: string) => (text.split('\n')[0] ?? '').slice(0, 80)
