import type { ConnectionConfig } from '@remit/sdk'
import { Field } from '../ui/field.tsx'
import { NativeSelect } from '../ui/native-select.tsx'

interface TokenFieldsProps {
	readonly config: ConnectionConfig
	readonly onChange: (config: ConnectionConfig) => void
	readonly errorOf: (name: string) => string | undefined
}

const placesOfSecret = [
	{ id: 'basic', label: 'In the Authorization header' },
	{ id: 'body', label: 'In the body' },
] as const

const parameters = [
	{ name: 'audience', label: 'Audience', hint: 'Where the provider asks for one, such as Auth0.' },
	{ name: 'resource', label: 'Resource', hint: undefined },
] as const

/** Where an API that a connection describes gives tokens, and what it wants to know before. */
export function TokenFields({ config, onChange, errorOf }: TokenFieldsProps) {
	const { tokenUrl, scopes, clientAuthentication = 'basic', tokenParameters } = config
	const setParameter = (name: string, text: string) => {
		const { [name]: _, ...others } = tokenParameters ?? {}
		const all = text === '' ? others : { ...others, [name]: text }
		onChange({ ...config, tokenParameters: Object.keys(all).length > 0 ? all : undefined })
	}
	return (
		<>
			<Field
				label="URL of tokens"
				isRequired
				value={tokenUrl ?? ''}
				onChange={(text) => onChange({ ...config, tokenUrl: text || undefined })}
				error={errorOf('config.tokenUrl')}
			/>
			<NativeSelect
				label="Client id and secret are sent"
				isRequired
				value={clientAuthentication}
				choices={placesOfSecret}
				onChange={(id) => onChange({ ...config, clientAuthentication: id as typeof clientAuthentication })}
			/>
			<Field
				label="Scopes"
				hint="With blanks between them."
				value={scopes?.join(' ') ?? ''}
				onChange={(text) => onChange({ ...config, scopes: text.trim() === '' ? undefined : text.split(' ') })}
				error={errorOf('config.scopes')}
			/>
			{parameters.map(({ name, ...props }) => (
				<Field
					key={name}
					{...props}
					value={tokenParameters?.[name] ?? ''}
					onChange={(text) => setParameter(name, text)}
					error={errorOf(`config.tokenParameters.${name}`)}
				/>
			))}
		</>
	)
}
