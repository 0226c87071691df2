"""Commands run in this process, without the frame that prints errors."""

from typer.testing import CliRunner

from pqswarm.cli.main import app
from pqswarm.errors import PqswarmError


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def refused(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert isinstance(result.exception, PqswarmError), result.output
    return str(result.exception)
