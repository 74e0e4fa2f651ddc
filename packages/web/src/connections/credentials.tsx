import type { ConnectionAuthType, ConnectionCredentials } from '@remit/sdk'
import { Field } from '../ui/field.tsx'
import { credentialFields } from './words.ts'

interface CredentialsProps {
	readonly authType: ConnectionAuthType
	readonly value: ConnectionCredentials
	readonly onChange: (credentials: ConnectionCredentials) => void
	readonly errorOf: (name: string) => string | undefined
}

/** They are in this page alone: no draft has them, and no answer shows them. */
export const Credentials = ({ authType, value, onChange, errorOf }: CredentialsProps) => (
	<>
		{(credentialFields[authType] ?? []).map(({ name, label, isSecret }) => (
			<Field
				key={name}
				label={label}
				isRequired
				type={isSecret ? 'password' : 'text'}
				autoComplete="off"
				value={value[name] ?? ''}
				onChange={(text) => onChange({ ...value, [name]: text })}
				error={errorOf(`credentials.${name}`)}
			/>
		))}
	</>
)
